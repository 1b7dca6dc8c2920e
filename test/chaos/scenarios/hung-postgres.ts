// Every process of Postgres is stopped for half a minute and goes on again: how long calls hang, and what they are told.

import { setTimeout as pause } from 'node:timers/promises';
import type { Scenario } from '../scenario.ts';
import { DOMAIN, type Stage, signal } from '../stage.ts';

const HUNG_MS = 30_000;
/** A write waits for its turn and then for its statement. */
const MOST_SECONDS = 21;

export const hungPostgres: Scenario = {
  name: 'hung-postgres',
  attack: `every process of Postgres is stopped (SIGSTOP) for ${HUNG_MS / 1000} s`,
  stopsEdits: true,
  async run(stage) {
    for (const pid of stage.pids('postgres')) signal(pid, 'SIGSTOP');
    const endMs = performance.now() + HUNG_MS;
    const answers: { status: number; seconds: number }[] = [];
    const calls: Promise<void>[] = [];
    while (performance.now() < endMs) {
      calls.push(timed(stage, 'GET', answers), timed(stage, 'PUT', answers));
      await pause(500);
    }
    const ready = await fetch(`${stage.apiUrl}/readyz`);
    const reason = ((await ready.json()) as { error?: string }).error ?? 'ready';
    for (const pid of stage.pids('postgres')) signal(pid, 'SIGCONT');
    stage.faultEnds();
    await Promise.all(calls);
    const worst = Math.max(...answers.map(({ seconds }) => seconds));
    const others = answers.filter(({ status }) => status !== 503 && status !== 200);
    return [
      {
        label: 'calls',
        text: `${answers.length}, others than 503: ${others.length}`,
        isMet: others.length === 0,
      },
      { label: 'worst call', text: `${worst.toFixed(1)} s`, isMet: worst <= MOST_SECONDS },
      { label: '/readyz', text: `${ready.status} ${reason}`, isMet: ready.status === 503 },
    ];
  },
};

async function timed(
  stage: Stage,
  method: 'GET' | 'PUT',
  answers: { status: number; seconds: number }[],
): Promise<void> {
  const beganMs = performance.now();
  const { status } =
    method === 'GET'
      ? await stage.call('GET', `/domains/${DOMAIN}`)
      : await stage.call('PUT', `/domains/${DOMAIN}/records/batch`, {
          create: [{ name: 'hung', type: 'TXT', destination: String(beganMs) }],
        });
  answers.push({ status, seconds: (performance.now() - beganMs) / 1000 });
}
