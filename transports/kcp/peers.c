//go:build ignore

#include "peers.h"

#include <stdlib.h>

/* Slots of the first table; it doubles whenever it is half full. */
#define FIRST_SIZE 16

static struct peer **slot(struct peer **slots, size_t size, const union address *a)
{
	size_t i = (size_t)(address_hash(a) >> 32) & (size - 1); /* the upper half of a product is the well mixed one */
	while (slots[i] != NULL && !address_equal(&slots[i]->session.peer, a))
		i = (i + 1) & (size - 1);
	return &slots[i];
}

struct peer *peers_find(const struct peers *p, const union address *from)
{
	return p->size == 0 ? NULL : *slot(p->slots, p->size, from);
}

static int grow(struct peers *p)
{
	size_t size = p->size == 0 ? FIRST_SIZE : p->size * 2;
	struct peer **slots = calloc(size, sizeof(struct peer *));
	struct peer **all = realloc(p->all, size * sizeof(struct peer *));
	if (all != NULL)
		p->all = all;
	if (slots == NULL || all == NULL) {
		free(slots);
		return -1;
	}
	for (size_t i = 0; i < p->used; i++)
		*slot(slots, size, &p->all[i]->session.peer) = p->all[i];
	free(p->slots);
	p->slots = slots;
	p->size = size;
	return 0;
}

struct peer *peers_add(struct peers *p, const union address *from)
{
	if (p->used * 2 >= p->size && grow(p) < 0)
		return NULL;
	struct peer *peer = calloc(1, sizeof *peer);
	if (peer == NULL)
		return NULL;
	peer->session.peer = *from;
	*slot(p->slots, p->size, from) = peer;
	p->all[p->used++] = peer;
	return peer;
}

void peers_free(struct peers *p)
{
	for (size_t i = 0; i < p->used; i++) {
		session_close(&p->all[i]->session);
		free(p->all[i]->held);
		free(p->all[i]);
	}
	free(p->all);
	free(p->slots);
	*p = (struct peers){0};
}
