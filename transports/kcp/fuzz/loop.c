/* A stand-in for libFuzzer: feeds the target with seeded mutations of well-formed series. Usage: loop ITERATIONS SEED */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

enum { SIZE_MAX_INPUT = 8192, HEADER = 24 };

static uint64_t state;

/* xorshift64* (Vigna, 2016). */
static uint32_t draw(uint32_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * 0x2545F4914F6CDD1Du) >> 33) % below;
}

/* Appends one step: a data or other segment with small numbers, sometimes two in one datagram. */
static size_t add_step(unsigned char *out, size_t at)
{
	size_t body = draw(3) == 0 ? 800 : draw(40), size = HEADER + body;
	if (at + 3 + size > SIZE_MAX_INPUT)
		return at;
	unsigned char *s = out + at;
	s[0] = (unsigned char)(draw(64) | (draw(8) != 0 ? 2 | 4 | 8 : 0));
	s[1] = (unsigned char)(size & 0xFF);
	s[2] = (unsigned char)(size >> 8);
	memset(s + 3, 0, HEADER);
	s[3] = 42;
	s[3 + 4] = (unsigned char)(81 + draw(4));
	s[3 + 5] = (unsigned char)(draw(4) == 0 ? draw(256) : 0);
	s[3 + 6] = (unsigned char)draw(256);
	s[3 + 12] = (unsigned char)draw(24);
	s[3 + 16] = (unsigned char)draw(24);
	memset(s + 3 + HEADER, 0xFE, body);
	return at + 3 + size;
}

static void mutate(unsigned char *b, size_t size)
{
	for (uint32_t n = draw(6); n > 0; n--) {
		size_t at = draw((uint32_t)size);
		switch (draw(3)) {
		case 0:
			b[at] ^= (unsigned char)(1u << draw(8));
			break;
		case 1:
			b[at] = (unsigned char)draw(256);
			break;
		default:
			b[at] = draw(2) ? 0xFF : 0x7F;
		}
	}
}

int main(int argc, char **argv)
{
	static unsigned char input[SIZE_MAX_INPUT];
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	state = (argc > 2 ? strtoull(argv[2], NULL, 10) : 0) * 2 + 1;
	for (unsigned long i = 0; i < rounds; i++) {
		size_t size = 1;
		input[0] = (unsigned char)draw(256);
		for (uint32_t steps = 1 + draw(20); steps > 0; steps--)
			size = add_step(input, size);
		mutate(input, size);
		unsigned char *exact = malloc(size); /* its own allocation, so that one byte too many is seen */
		if (exact == NULL)
			return 1;
		memcpy(exact, input, size);
		LLVMFuzzerTestOneInput(exact, size);
		free(exact);
	}
	printf("%lu inputs\n", rounds);
	return 0;
}
