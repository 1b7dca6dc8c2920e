// The metric with the version of a process.

import { Gauge, type Registry } from 'prom-client';

interface BuildLabels {
  readonly version: string;
  readonly commit: string | undefined;
  /** The name that the process has in its log. */
  readonly process: string;
}

export function addBuild(registry: Registry, { version, commit = '', process }: BuildLabels): void {
  new Gauge({
    name: 'zonefleet_build_info',
    help: 'Always 1. The labels have the version and the commit of the process.',
    labelNames: ['version', 'commit', 'process'],
    registers: [registry],
  }).set({ version, commit, process }, 1);
}
