// The machine and the program versions of the figures.

import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { versionOf } from '../servers/installed.ts';
import type { Server } from '../servers/server.ts';

export function describeMachine(servers: readonly Server[]): string {
  const model = cpus()[0]?.model.trim() ?? 'an unknown processor';
  const gib = Math.round(totalmem() / 2 ** 30);
  const programs = servers.map((server) => {
    const version = server.version() ?? 'not installed';
    return server.name === 'echo' ? `echo compiled by cc ${version}` : `${server.title} ${version}`;
  });
  const dnsperf = versionOf(['dnsperf', '-h'], /Version (\S+)/) ?? '';
  return (
    `${availableParallelism()} cores of ${model}${isVirtual() ? ' (a virtual machine)' : ''}, ${gib} GiB, ` +
    `${type()} ${release().replace(/-.*/, '')} ${arch()}, Node ${process.versions.node}, dnsperf ${dnsperf}. ` +
    `${programs.join(', ')}.`
  );
}

function isVirtual(): boolean {
  try {
    return /^flags\s*:.*\bhypervisor\b/m.test(readFileSync('/proc/cpuinfo', 'utf8'));
  } catch {
    return false;
  }
}
