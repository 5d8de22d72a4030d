#!/usr/bin/env python3
"""Recompute summary.tsv of an artifact with nothing but artifacts/README.md to go by: recompute.py ARTIFACT > summary.tsv"""
import json, os, sys

UNITS = {"throughput": "B/s", "elapsed": "ns", "sparse_p50": "ns", "sparse_p95": "ns", "sparse_p99": "ns", "loaded_p50": "ns", "loaded_p99": "ns",
         "client_rss": "B", "server_rss": "B", "client_cpu_per_message": "ns", "server_cpu_per_message": "ns", "packets_per_message": "1",
         "wire_bytes_per_payload_byte": "1", "effective_loss": "1", "lost_share": "1", "udp_rcvbuf_errors": "1", "jain_index": "1",
         "first_finish": "ns", "median_finish": "ns", "last_finish": "ns", "middle80_throughput": "B/s"}


def median(xs):
    xs, n = sorted(xs), len(xs)
    return float(xs[n // 2]) if n % 2 else xs[n // 2 - 1] / 2 + xs[n // 2] / 2


def metrics(r):
    """Every metric that a successful run has, by name, in base units."""
    m, res, count, payload = {}, r["client"].get("result"), r.get("counters"), r["profile"]["payload_bytes"]
    t, done = (res["elapsed_ns"], res["verified"]) if res else (0, 0)
    if res:
        m["elapsed"] = t
        for q in ("sparse_p50", "sparse_p95", "sparse_p99", "loaded_p50", "loaded_p99"):
            if res.get(q[:6], {}).get("n"):
                m[q] = res[q[:6]][q[7:] + "_ns"]
    if t > 0:
        m["throughput"] = res["bytes"] / (t / 1e9)
    if res and res["messages"]:
        m["lost_share"] = res["lost"] / res["messages"]
    for side in ("client", "server"):
        e = r[side].get("exit")
        if e and e["max_rss_kib"] > 0:
            m[side + "_rss"] = e["max_rss_kib"] * 1024
        if e and done:
            m[side + "_cpu_per_message"] = (e["user_us"] + e["system_us"]) * 1000 / done
    if count:
        m["udp_rcvbuf_errors"] = (count["udp"] or {}).get("RcvbufErrors", 0)
        if count["packets_lo"]:
            lost = sum(d["dropped"] + d["overflow"] for d in count["directions"] or [])
            m["effective_loss"] = (m["udp_rcvbuf_errors"] + lost) / count["packets_lo"]
        if done:
            m["packets_per_message"] = count["packets_lo"] / done
            m["wire_bytes_per_payload_byte"] = count["bytes_lo"] / (2 * done * payload)
    ends = (r["client"].get("per_connection_ns") or [])[::2] if res else []
    some = sorted(e for e in ends if e > 0)
    if len(ends) > 1 and some:
        rates = [1 / e for e in some]
        m["jain_index"] = sum(rates) ** 2 / (len(ends) * sum(x * x for x in rates))
        m["first_finish"], m["median_finish"], m["last_finish"] = some[0], median(some), some[-1]
        if t > 0:
            inside = sum(res["bytes"] / len(ends) * max(0, min(0.9 * t, e) - 0.1 * t) / e for e in some)
            m["middle80_throughput"] = inside / ((0.9 * t - 0.1 * t) / 1e9)
    return m


def main(folder):
    last, cells = {}, {}
    for line in open(os.path.join(folder, "runs.ndjson"), encoding="utf-8"):
        r = json.loads(line)
        if r["type"] == "run":
            last[r["run_id"]] = r  # attempts stand in order; the last one counts
    for line in open(os.path.join(folder, "plan.tsv"), encoding="utf-8"):
        run = line.split("\t")[2]
        cells.setdefault(tuple(run.split("/")[:2]), []).append(run)
    print(*"profile variant metric unit n median min max ok failed unsupported not_run reason runs".split(), sep="\t")
    for cell, runs in cells.items():
        ends = [last.get(run) for run in runs]
        why = next((r["outcome"] + ": " + r["reason"] if r else "not run" for r in ends if not r or r["outcome"] != "ok"), "")
        tally = [sum(1 for r in ends if r and r["outcome"] == k) for k in ("ok", "failed", "unsupported")]
        tail = [*tally, ends.count(None), "".join(" " if c < " " else c for c in why)]
        values = [(r["run_id"], metrics(r)) for r in ends if r and r["outcome"] == "ok"]
        if not any(m for _, m in values):
            print(*cell, "-", "-", 0, "", "", "", *tail, "", sep="\t")
        for name, unit in UNITS.items():
            xs = [(m[name], run) for run, m in values if name in m]
            if xs:
                v = [x for x, _ in xs]
                print(*cell, name, unit, len(v), *("%.9g" % x for x in (median(v), min(v), max(v))), *tail, ",".join(run for _, run in xs), sep="\t")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    main(sys.argv[1])
