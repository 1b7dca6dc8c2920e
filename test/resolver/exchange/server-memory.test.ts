import { describe, expect, it } from 'vitest';
import { ServerMemory } from '../../../src/resolver/exchange/server-memory.ts';
import { ORDINARY, type Way } from '../../../src/resolver/exchange/ways.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const ADDRESS = '192.0.2.1';
const TCP: Way = { transport: 'tcp', edns: true, mixed: false };
const PLAIN: Way = { transport: 'udp', edns: false, mixed: false };
const MIXED: Way = { ...PLAIN, mixed: true };
const WITH_EDNS: Way = { ...PLAIN, edns: true };

function memory() {
  const clock = { now: 1_700_000_000_000 };
  return { clock, servers: new ServerMemory(() => clock.now) };
}

const waysOf = (servers: ServerMemory, address = ADDRESS) => {
  const known = servers.knownOf(address);
  return known.kind === 'needs' ? known.ways : known.kind;
};

describe('ServerMemory', () => {
  it('remembers that a server is ordinary for an hour, even if it then replies in another way', () => {
    const { clock, servers } = memory();
    servers.setOrdinary(ADDRESS);
    clock.now += HOUR_MS - 1;
    servers.setNeeds(ADDRESS, PLAIN);
    expect(waysOf(servers)).toBe('ordinary');
    clock.now += 1;
    expect(waysOf(servers)).toBe('unknown');
  });

  it('tries the remembered way first, and the ordinary one first after ten minutes', () => {
    const { clock, servers } = memory();
    servers.setNeeds(ADDRESS, TCP);
    clock.now += 10 * MINUTE_MS - 1;
    expect(waysOf(servers)).toEqual([TCP, ORDINARY]);
    clock.now += 1;
    expect(waysOf(servers)).toEqual([ORDINARY, TCP]);
  });

  it('doubles that time whenever the ordinary way has failed again, up to six hours', () => {
    const { clock, servers } = memory();
    servers.setNeeds(ADDRESS, TCP);
    let minutes = 10;
    for (let i = 0; i < 8; i++) {
      servers.setNeeds(ADDRESS, TCP); // does not extend the time
      clock.now += minutes * MINUTE_MS - 1;
      expect(waysOf(servers)).toEqual([TCP, ORDINARY]);
      clock.now += 1;
      expect(waysOf(servers)).toEqual([ORDINARY, TCP]);
      servers.setNeeds(ADDRESS, TCP);
      minutes = Math.min(360, 2 * minutes);
    }
    expect(minutes).toBe(360);
  });

  it('forgets needs that were doubtful for a day, or after which the server did not reply', () => {
    const { clock, servers } = memory();
    servers.setNeeds(ADDRESS, TCP);
    clock.now += DAY_MS + 10 * MINUTE_MS;
    expect(waysOf(servers)).toBe('unknown');
    servers.setNeeds(ADDRESS, TCP);
    servers.forgetNeeds(ADDRESS);
    expect(waysOf(servers)).toBe('unknown');
  });

  it('forgets needs when the server answers the ordinary way', () => {
    const { clock, servers } = memory();
    servers.setNeeds(ADDRESS, TCP);
    servers.setOrdinary(ADDRESS);
    clock.now += HOUR_MS;
    expect(waysOf(servers)).toBe('unknown');
  });

  it('tries each better way once after the weakest one', () => {
    const { servers } = memory();
    servers.setNeeds(ADDRESS, PLAIN);
    expect(waysOf(servers)).toEqual([MIXED, PLAIN, PLAIN, ORDINARY]);
    servers.setNeeds(ADDRESS, PLAIN);
    expect(waysOf(servers)).toEqual([WITH_EDNS, PLAIN, PLAIN, ORDINARY]);
    servers.setNeeds(ADDRESS, WITH_EDNS);
    expect(waysOf(servers)).toEqual([WITH_EDNS, WITH_EDNS, ORDINARY]);
  });

  it('stores at most 20,000 addresses', () => {
    const { servers } = memory();
    const addresses = Array.from({ length: 60_000 }, (_, i) => `address ${i}`);
    for (const address of addresses) servers.setNeeds(address, TCP);
    const count = () => addresses.filter((address) => servers.knownOf(address).kind !== 'unknown').length;
    expect(count()).toBeLessThanOrEqual(20_000);
    expect(waysOf(servers, addresses.at(-1))).toEqual([TCP, ORDINARY]);
    for (const address of addresses) servers.setOrdinary(`ordinary ${address}`);
    expect(waysOf(servers, `ordinary ${addresses.at(-1)}`)).toBe('ordinary');
    expect(waysOf(servers, `ordinary ${addresses[0]}`)).toBe('unknown');
  });
});
