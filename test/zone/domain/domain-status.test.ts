import { describe, expect, it } from 'vitest';
import {
  DNS_MODES,
  DOMAIN_STATUSES,
  nextState,
  type StatusEvent,
  startStatus,
} from '../../../src/zone/domain/domain-status.ts';

/** One line a state: what each event leads to. `=` is no change, words are codes of refusals. */
const TABLE = `
                     enable           disable      ban          unban                use_managed      use_external
managed pending      wrong_state      disabled     banned       wrong_state          =                unverified/external
managed active       wrong_state      disabled     banned       wrong_state          =                unverified/external
managed moved        wrong_state      disabled     banned       wrong_state          =                unverified/external
managed disabled     pending          wrong_state  banned       wrong_state          domain_disabled  domain_disabled
managed banned       domain_banned    disabled     wrong_state  pending              domain_banned    domain_banned
external unverified  wrong_state      disabled     banned       wrong_state          pending/managed  =
external active      wrong_state      disabled     banned       wrong_state          pending/managed  =
external disabled    unverified       wrong_state  banned       wrong_state          domain_disabled  domain_disabled
external banned      domain_banned    disabled     wrong_state  unverified           domain_banned    domain_banned
`;

describe('the moves that people make', () => {
  const [head, ...lines] = TABLE.trim().split('\n');
  const events = head?.trim().split(/\s+/) as StatusEvent[];
  const cases = lines.flatMap((line) => {
    const [dnsMode, status, ...cells] = line.split(/\s+/) as [string, string, ...string[]];
    return events.map((event, i) => [dnsMode, status, event, cells[i] as string] as const);
  });

  it('are all in the table', () => {
    expect(events).toEqual(['enable', 'disable', 'ban', 'unban', 'use_managed', 'use_external']);
    expect(new Set(cases.map(([, status]) => status))).toEqual(new Set(DOMAIN_STATUSES));
  });

  it.each(cases)('%s %s, %s: %s', (dnsMode, status, event, expected) => {
    const state = { dnsMode, status } as Parameters<typeof nextState>[0];
    const move = nextState(state, event);
    if (move.kind === 'move') {
      const to = move.to.dnsMode === dnsMode ? move.to.status : `${move.to.status}/${move.to.dnsMode}`;
      expect(to).toBe(expected);
    } else {
      expect(move.kind === 'refused' ? move.code : '=').toBe(expected);
      if (move.kind === 'refused') expect(move.message).toMatch(/^the domain is/);
    }
  });
});

it('a new domain waits for its delegation or its TXT record', () => {
  expect(DNS_MODES.map(startStatus)).toEqual(['pending', 'unverified']);
});
