// The nameserver is killed four times in a row; it comes back from its snapshot each time.

import type { Scenario } from '../scenario.ts';

const KILLS = 4;

export const killedNameserver: Scenario = {
  name: 'killed-nameserver',
  attack: 'the nameserver is killed (SIGKILL) four times, as soon as it answers again',
  async run(stage) {
    const away: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) away.push(await stage.killNameserver());
    const text = `${away.map((seconds) => seconds.toFixed(1)).join(', ')} s`;
    return [{ label: 'away', text, isMet: away.slice(0, 3).every((seconds) => seconds <= 1) }];
  },
};
