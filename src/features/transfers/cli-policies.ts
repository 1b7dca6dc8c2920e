// Sets, lists and removes transfer policies, gives zones a policy, and orders NOTIFY.

import type { Cli } from '../../cli/terminal/cli.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { Listing } from '../../cli/terminal/output.ts';
import { parseZoneNames } from '../../cli/terminal/parse-zone-name.ts';
import { printTable } from '../../cli/terminal/print-table.ts';
import {
  DEFAULT_POLICY,
  listPolicies,
  orderNotify,
  type Policy,
  removePolicy,
  setPolicy,
  setZonePolicies,
} from '../../store/transfers/policies.ts';
import { PEER_NAME, WRONG_PEER_NAME } from './rules.ts';

interface SetOptions {
  readonly transfer?: readonly string[];
  readonly notify?: readonly string[];
}

export async function setPolicyNamed(cli: Cli, name: string, options: SetOptions): Promise<void> {
  if (!PEER_NAME.test(name)) throw new Failure('usage', `"${name}": ${WRONG_PEER_NAME}`);
  const { transfer: transfers = [], notify: notified = [] } = options;
  const { output } = cli;
  await cli.withStore(async (db) => {
    const set = await cli.audited(db, 'policy.set', async (trx, tell) => {
      const done = await setPolicy(trx, { name, transfers, notified });
      if (done.kind === 'set')
        tell({
          target: { name },
          before: done.before && toldPolicy(done.before),
          after: toldPolicy(done.policy),
        });
      return done;
    });
    if (set.kind === 'imported_keys')
      return await output.refuse(
        { policy: name },
        `cannot transfer with an imported key: ${set.names.join(', ')}`,
      );
    if (set.kind === 'absent_peers')
      return await output.refuse({ policy: name }, `no such peer: ${set.names.join(', ')}`);
    await output.print(
      output.json ? JSON.stringify({ ...policyJson(set.policy), outcome: 'set' }) : `set ${name}`,
    );
    return 0;
  });
}

export async function listAllPolicies(cli: Cli): Promise<void> {
  const { output } = cli;
  await cli.withStore(async (db) => {
    const policies = await listPolicies(db);
    if (output.json) await output.print(JSON.stringify({ policies: policies.map(policyJson) }));
    else {
      const rows = policies.map(({ name, transfers, notified, zones }) => [
        name,
        transfers.join(' ') || '-',
        notified.join(' ') || '-',
        name === DEFAULT_POLICY ? 'all others' : zones,
      ]);
      await output.print(printTable(['NAME', 'TRANSFER', 'NOTIFY', 'ZONES'], rows));
    }
    return 0;
  });
}

export async function removePolicyNamed(cli: Cli, name: string): Promise<void> {
  const { output } = cli;
  await cli.withStore(async (db) => {
    const removed = await cli.audited(db, 'policy.remove', async (trx, tell) => {
      const done = await removePolicy(trx, name);
      if (done.kind === 'removed') tell({ target: { name }, before: toldPolicy(done.policy) });
      return done;
    });
    if (removed.kind === 'absent') return await output.refuse({ policy: name }, 'no such policy');
    if (removed.kind === 'in_use')
      return await output.refuse(
        { policy: name },
        `${removed.policy.zones} zones have this policy (zone policy --default)`,
      );
    return await output.done({ policy: name }, 'removed');
  });
}

export async function giveZonesPolicy(
  cli: Cli,
  names: readonly string[],
  { policy, default: isDefault = false }: { readonly policy?: string; readonly default?: boolean },
): Promise<void> {
  if ((policy === undefined) !== isDefault)
    throw new Failure('usage', 'expected either --policy NAME or --default');
  const zones = parseZoneNames(names);
  await cli.withStore(async (db) => {
    const given = await cli.audited(db, 'zone.policy', async (trx, tell) => {
      const done = await setZonePolicies(trx, zones, policy);
      if (done.kind === 'set' && done.zones.length > 0)
        tell({
          target: { name: done.zones[0] },
          after: { zones: done.zones.length, names: done.zones, policy: policy ?? null },
        });
      return done;
    });
    if (given.kind === 'absent') return await cli.output.refuse({ policy: policy ?? '' }, 'no such policy');
    return await listZones(cli, zones, { done: given.zones, outcome: 'set' });
  });
}

export async function notifyZones(cli: Cli, names: readonly string[]): Promise<void> {
  const zones = parseZoneNames(names);
  await cli.withStore(async (db) => {
    const ordered = await cli.audited(db, 'zone.notify', async (trx, tell) => {
      const done = await orderNotify(trx, zones);
      if (done.length > 0) tell({ target: { name: done[0] }, after: { zones: done.length, names: done } });
      return done;
    });
    return await listZones(cli, zones, { done: ordered, outcome: 'ordered' });
  });
}

async function listZones(
  { output }: Cli,
  zones: readonly string[],
  { done, outcome }: { readonly done: readonly string[]; readonly outcome: string },
): Promise<number> {
  const listing = new Listing(output, 'zones');
  for (const zone of zones) {
    if (done.includes(zone)) await listing.add({ json: { zone, outcome }, lines: [`${outcome} ${zone}`] });
    else await listing.add({ json: { zone, outcome: 'absent' }, problems: [`${zone}: no such zone`] });
  }
  const absent = zones.length - done.length;
  await listing.end({ summary: { [outcome]: done.length, absent } });
  return absent > 0 ? 1 : 0;
}

function toldPolicy({ transfers, notified }: Policy) {
  return { transfer: transfers, notify: notified };
}

function policyJson(policy: Policy): object {
  const { name, zones } = policy;
  return { policy: name, ...toldPolicy(policy), zones };
}
