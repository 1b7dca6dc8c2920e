// The metrics that every process has: readiness, memory, processor time, start time and open files.

import { readdir } from 'node:fs/promises';
import { Counter, Gauge, type Registry } from 'prom-client';

interface ReadyState {
  readonly kind: 'ready' | 'waiting';
  readonly warnings?: readonly string[];
}

/** `readiness` is the function behind /readyz. It is called once per scrape. */
export function addProcessMetrics(
  registry: Registry,
  readiness: () => ReadyState | Promise<ReadyState>,
): void {
  const registers = [registry];
  let asked: Promise<ReadyState | undefined> | undefined;
  const ask = () => {
    asked ??= Promise.resolve()
      .then(readiness)
      .catch(() => undefined)
      .finally(() => {
        asked = undefined;
      });
    return asked;
  };
  new Gauge({
    name: 'zonefleet_ready',
    help: '1 while /readyz responds 200.',
    registers,
    async collect() {
      this.set((await ask())?.kind === 'ready' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'zonefleet_readiness_warnings',
    help: 'Number of warnings that /readyz lists. 0 while the process is not ready.',
    registers,
    async collect() {
      this.set((await ask())?.warnings?.length ?? 0);
    },
  });
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time that the process has used.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1_000_000);
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Time at which the process started, in seconds since 1970.',
    registers,
  }).set(Date.now() / 1000 - process.uptime());
  new Gauge({
    name: 'process_open_fds',
    help: 'Open file descriptors. Missing on systems without /proc.',
    registers,
    async collect() {
      const open = await readdir('/proc/self/fd').catch(() => undefined);
      if (open === undefined) this.remove();
      else this.set(open.length);
    },
  });
}
