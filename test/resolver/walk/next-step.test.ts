import { describe, expect, it } from 'vitest';
import type { ServerEvidence, ServerOutcome } from '../../../src/checks/delegation/evidence.ts';
import { type Name, printName, ROOT } from '../../../src/dns/name.ts';
import type { CutState } from '../../../src/resolver/state/zone-cache.ts';
import { nextParentStep, nextStep } from '../../../src/resolver/walk/next-step.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';
import { name } from '../../support/world/zone-exchange.ts';

interface TestZone {
  readonly zone: Name;
}

/** `known` has `com=cut` for each known name. */
function step(wanted: string, known: string, inclusive = false): string {
  const states = new Map<Name, CutState<TestZone>>();
  for (const [text = '', kind] of known
    .split(' ')
    .filter(Boolean)
    .map((word) => word.split('='))) {
    const at = name(text);
    const failure = { zone: ROOT, reason: 'unreachable', message: '' } as const;
    if (kind === 'cut') states.set(at, { kind, zone: { zone: at } });
    else if (kind === 'failed') states.set(at, { kind, failure });
    else if (kind !== undefined) states.set(at, { kind: kind as 'none' });
  }
  const next = nextStep(name(wanted), { zone: ROOT }, (at) => states.get(at), { inclusive });
  expect(next.path.at(-1)).toBe(next.zone);
  switch (next.kind) {
    case 'ask':
      return `ask ${printName(next.zone.zone)} about ${printName(next.name)}`;
    case 'arrived': {
      const path = next.path.map(({ zone }) => printName(zone)).join(' ');
      return `arrived by ${path}${next.doubt === undefined ? '' : `, doubting ${printName(next.doubt)}`}`;
    }
    case 'failed':
      return `failed: ${next.failure.reason}`;
  }
}

describe('on the way to the parent', () => {
  it.each(
    rowsOf(`
the root is the parent of a single label | com | | arrived by .
the first label below the root is asked first | a.co.uk | | ask . about uk.
a cut leads on | a.co.uk | uk=cut | ask uk. about co.uk.
the last cut above the domain is the parent | a.co.uk | uk=cut co.uk=cut | arrived by . uk. co.uk.
a name without a cut is not a zone, for any number of labels | a.co.uk | uk=cut co.uk=none | arrived by . uk.
a name without a cut is skipped | a.b.c.d | d=none | ask . about c.d.
a cut may be below a name without one | a.b.c.d | d=none c.d=cut | ask c.d. about b.c.d.
nothing is asked below a name that does not exist | a.b.c.d | d=cut c.d=nothing | arrived by . d., doubting c.d.
cuts below a name that does not exist are ignored | a.b.c.d | d=nothing c.d=cut | arrived by ., doubting d.
a failure ends it | a.b.c | c=cut b.c=failed | failed: unreachable
what is known of the domain itself is ignored | a.b | b=cut a.b=cut | arrived by . b.`),
  )('%s', (_, wanted = '', known = '', expected) => {
    expect(step(wanted, known)).toBe(expected);
  });

  it('the zone of a nameserver may have its name', () => {
    expect(step('a.b', 'b=cut a.b=cut', true)).toBe('arrived by . b. a.b.');
    expect(step('a.b', 'b=cut', true)).toBe('arrived by . b.');
    expect(step('a.b', 'b=cut a.b=failed', true)).toBe('arrived by . b.');
  });

  it('the walk may start below the root', () => {
    const next = nextStep(name('a.b.example.com'), { zone: name('example.com') }, () => undefined);
    expect(next.kind === 'ask' && printName(next.name)).toBe('b.example.com.');
  });
});

function server(text: string): ServerEvidence {
  const [outcome, ...words] = text.split(' ') as [ServerOutcome, ...string[]];
  const [ds] = words.filter((word) => word.startsWith('ds='));
  return {
    ...{ server: ROOT, address: '1.2.3.4', transport: 'udp', askedAt: 0, rttMs: 1, outcome },
    ...{ rcode: undefined, aa: undefined, ttl: undefined, error: undefined },
    ns: words.filter((word) => !word.startsWith('ds=')).map(name),
    ds: ds === undefined ? [] : [Buffer.from(ds)],
  };
}

/** The answers so far | addresses, servers, unresolved nameservers (10 5 0 unless told) | the next step. */
describe('at the parent', () => {
  it.each(
    rowsOf(`
two are asked first | | | ask 2
a single address is all there is | | 1 1 0 | ask 1
two servers are wanted, not two addresses of one | | 2 1 1 | ask 1
the second is looked up | referral a | 1 0 1 | resolve
and asked | referral a | 2 1 0 | ask 1
or another address of the first | referral a | 1 0 0 | ask 1
two addresses of one server must do if there is no other | | 2 1 0 | ask 2
without an address one is looked up | | 0 0 3 | resolve
without any nameserver there is nothing to do | | 0 0 0 | done
two that agree are enough | referral a b / referral a b | | done
two that say NXDOMAIN are enough | nxdomain / nxdomain | | done
two without data are enough | nodata / nodata | | done
two aliases are enough | alias / alias | | done
all are asked if sets differ | referral a b / referral a c | | ask 4
all are asked if one has one more name | referral a / referral a b | | ask 4
all are asked if DS sets differ | referral a ds=1 / referral a | | ask 4
no data and NXDOMAIN differ | nodata / nxdomain | | ask 4
a referral and an answer differ | referral a / answer a | | ask 4
after answers alone, another may refer | answer a / answer a | | ask 4
answers from all there are | answer a / answer a | 0 0 0 | done
a silent one is replaced | referral a / timeout | | ask 1
a lame one is replaced | lame / nxdomain | | ask 1
then two of three agree | referral a / timeout / referral a | | done
then two of three fail | referral a / timeout / refused | | ask 3
then two of three differ | referral a / timeout / referral b | | ask 3
all are asked if both are silent | timeout / timeout | | ask 4
no more than there are | timeout / timeout | 1 1 0 | ask 1
then others are looked up | timeout / timeout | 0 0 1 | resolve
six are enough | timeout / timeout / timeout / timeout / timeout / timeout | | done
six are enough even if they differ | nodata / referral a / referral a / referral a / referral a / referral a | | done
a single one that was all there is | referral a | 0 0 0 | done
a single one, and another to look up | referral a | 0 0 1 | resolve`),
  )('%s', (_, answers, rest, expected) => {
    const [addresses = 10, servers = 5, unresolved = 0] = (rest || '10 5 0').split(' ').map(Number);
    const view = { addresses, servers, unresolved, maxAddresses: 6 };
    const next = nextParentStep({ answers: itemsOf(answers).map(server), ...view });
    expect(next.kind === 'ask' ? `ask ${next.count}` : next.kind).toBe(expected);
  });
});
