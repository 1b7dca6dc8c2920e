// The nameserver of a thousand zones is killed four times in a row; it comes back from its snapshot each time.

import { until } from '../../support/tests/until.ts';
import type { Scenario } from '../scenario.ts';
import type { Stage } from '../stage.ts';

const KILLS = 4;
const ZONES = 1000;
const AT_A_TIME = 8;

export const killedNameserver: Scenario = {
  name: 'killed-nameserver',
  attack: `the nameserver of ${ZONES} zones is killed (SIGKILL) four times, as soon as it answers again`,
  async run(stage) {
    await makeZones(stage);
    const away: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) away.push(await stage.killNameserver());
    const text = `${away.map((seconds) => seconds.toFixed(1)).join(', ')} s`;
    return [{ label: 'away', text, isMet: away.slice(0, 3).every((seconds) => seconds <= 1) }];
  },
};

async function makeZones(stage: Stage): Promise<void> {
  const { key } = await stage.newAccount('many', 'pro');
  let made = 0;
  const makeSome = async () => {
    while (made < ZONES) {
      const name = `zone-${made++}.example.net`;
      const { status, text } = await stage.call('POST', '/domains/', { name, scan: false }, key);
      if (status !== 200) throw new Error(`POST /domains/: ${status} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, makeSome));
  await until(async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${stage.metricsPort}/metrics`)).text();
    return Number(/^zonefleet_zones (\d+)$/m.exec(metrics)?.[1]) >= ZONES;
  }, 'the nameserver has all zones');
}
