// The systemd units for operators: how systemd itself rates them, and whether they permit what Node needs.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROGRAMS } from '../../src/cli/programs.mjs';
import { isInstalled } from '../support/peers/peers.ts';

const ROOT = join(import.meta.dirname, '../..');
const UNITS = ['nameserver', 'api', 'workers', 'vantage', 'edge-agent'] as const;
/** Paths of this repository's files that the units run. */
const FOLDERS: Partial<Record<string, string>> = { 'edge-agent': 'agent' };
/** Starts nginx, whose master changes the user of its workers. */
const CHANGES_USERS = 'edge-agent';
/** Maximum exposure of a unit, from 0 to 10. */
const MOST_EXPOSURE = 3.0;
/** System calls that V8, libuv and batched UDP require, and a filter might block. */
const CALLS =
  'recvmmsg sendmmsg recvmsg sendmsg epoll_pwait eventfd2 clone3 futex membarrier madvise mprotect mmap getrandom pwrite64 ' +
  'ftruncate fsync rename io_uring_setup prlimit64 sched_getaffinity statx pidfd_open pkey_alloc pkey_mprotect';
const skipped = isInstalled('systemd-analyze') ? '' : ' (skipped: needs systemd-analyze)';

const fileOf = (name: string) => join(ROOT, FOLDERS[name] ?? 'deploy/systemd', `zonefleet-${name}.service`);

function linesOf(name: string): string[] {
  return readFileSync(fileOf(name), 'utf8').split('\n');
}

function analyze(...words: string[]): string {
  return execFileSync('systemd-analyze', ['--no-pager', ...words], { encoding: 'utf8', stdio: 'pipe' });
}

/** Returns the members of a set like @network-io, including those of nested sets. */
function callsOf(set: string): string[] {
  const words = analyze('syscall-filter', set)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#') && line !== set);
  return words.flatMap((word) => (word.startsWith('@') ? callsOf(word) : [word]));
}

describe.each(UNITS)('the unit of the %s', (name) => {
  it.skipIf(skipped !== '')(`has an exposure of at most ${MOST_EXPOSURE.toFixed(1)}${skipped}`, () => {
    const said = analyze('security', '--offline=true', `--threshold=${MOST_EXPOSURE * 10}`, fileOf(name));
    expect(Number(/exposure level for \S+: ([\d.]+)/.exec(said)?.[1])).toBeLessThanOrEqual(MOST_EXPOSURE);
  });

  it.skipIf(skipped !== '')(`permits the system calls of the process${skipped}`, () => {
    const allowed = new Set<string>();
    for (const line of linesOf(name)) {
      const [, minus, sets = ''] = /^SystemCallFilter=(~?)(.*)$/.exec(line) ?? [];
      for (const set of sets.split(' ').filter(Boolean))
        for (const call of set.startsWith('@') ? callsOf(set) : [set])
          minus ? allowed.delete(call) : allowed.add(call);
    }
    expect(CALLS.split(' ').filter((call) => !allowed.has(call))).toEqual([]);
    const forbidden = [...(name === CHANGES_USERS ? [] : ['setuid', 'chown']), 'mount', 'ptrace', 'reboot'];
    expect(forbidden.filter((call) => allowed.has(call))).toEqual([]);
    expect(allowed.has('setgroups')).toBe(name === CHANGES_USERS);
  });

  it('starts an existing program, permits V8 to compile, and permits port 53 only for the nameserver', () => {
    const lines = linesOf(name);
    const started = /^ExecStart=(.+)$/m.exec(lines.join('\n'))?.[1];
    if (name === 'edge-agent') {
      expect(started).toBe('/usr/bin/node agent.mjs /etc/edge-agent/settings.json');
      expect(existsSync(join(ROOT, 'agent/agent.mjs'))).toBe(true);
    } else {
      expect(started).toBe(`/usr/bin/zonefleet run ${name}`);
      expect(existsSync(join(ROOT, PROGRAMS[name]))).toBe(true);
      expect(lines).toContain(`EnvironmentFile=/etc/zonefleet/${name}.env`);
      expect(existsSync(join(ROOT, `deploy/package/debian/${name}.env`))).toBe(true);
    }
    expect(lines.some((line) => /^MemoryDenyWriteExecute=(yes|true|on|1)/.test(line))).toBe(false);
    expect(lines.includes('AmbientCapabilities=CAP_NET_BIND_SERVICE')).toBe(name === 'nameserver');
    // nginx outlives its agent, but no other process outlives its unit.
    expect(lines.includes('KillMode=process')).toBe(name === 'edge-agent');
  });
});
