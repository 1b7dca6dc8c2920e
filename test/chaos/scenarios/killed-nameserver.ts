// The nameserver is killed four times in a row; it comes back from its snapshot each time.

import { until } from '../../support/until.ts';
import type { Scenario } from '../scenario.ts';
import { signal } from '../stage.ts';

const KILLS = 4;

export const killedNameserver: Scenario = {
  name: 'killed-nameserver',
  attack: 'the nameserver is killed (SIGKILL) four times, as soon as it answers again',
  async run(stage) {
    const away: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const [pid] = stage.pids('nameserver');
      if (pid === undefined) throw new Error('there is no nameserver to kill');
      const killedMs = performance.now();
      signal(pid, 'SIGKILL');
      stage.faultEnds();
      await until(
        async () => {
          const health = await fetch(`http://127.0.0.1:${stage.metricsPort}/readyz`).catch(() => undefined);
          return health?.ok === true && !stage.pids('nameserver').includes(pid);
        },
        'the nameserver is back',
        60_000,
      );
      away.push((performance.now() - killedMs) / 1000);
    }
    const text = `${away.map((seconds) => seconds.toFixed(1)).join(', ')} s`;
    return [{ label: 'away', text, isMet: away.slice(0, 3).every((seconds) => seconds <= 1) }];
  },
};
