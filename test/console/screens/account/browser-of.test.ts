// Browsers say that they are others, too: the name that people know is found.

import { expect, it } from 'vitest';
import { browserOf } from '../../../../console/src/screens/account/browser-of.ts';

it('names the browser and the system', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  for (const [agent, named] of [
    [`Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/130.0 Safari/537.36 Edg/130.0`, 'Edge · Windows'],
    [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/130.0 Safari/537.36`, 'Chrome · Linux'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0', 'Firefox · Linux'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 17 like Mac OS X) Version/17 Safari/604', 'Safari · iOS'],
    ['curl/8.5.0', 'curl'],
    ['something', ''],
    [undefined, ''],
  ])
    expect([agent, browserOf(agent)]).toEqual([agent, named]);
});
