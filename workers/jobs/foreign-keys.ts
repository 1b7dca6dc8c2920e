// Queries another operator that signs the same domain: fetches its keys for an import, and checks which of the
// fleet's keys it publishes.

import type { Facts } from '../../src/checks/dnssec/advance.ts';
import { type DsEvidence, dsText } from '../../src/checks/dnssec/ds-evidence.ts';
import { judgeTheirKeys } from '../../src/checks/dnssec/their-keys.ts';
import type { Resolver } from '../../src/resolver/resolver.ts';
import type { KeyWork } from '../../src/store/dnssec/dnssec-state.ts';
import { type Imported, wantedDs } from '../../src/store/dnssec/foreign-keys.ts';

type Observing = Pick<Resolver, 'observeTheirKeys'>;

/** Requires a DS at the parent that leads to the keys, so that no attacker can have his own imported. */
export async function fetchTheirKeys(
  resolver: Observing,
  { name, nameservers, keys }: KeyWork,
  { answers, parentIsSecure }: DsEvidence,
  { isHeld, signal }: { readonly isHeld: boolean; readonly signal: AbortSignal },
): Promise<Imported> {
  if (!isHeld && parentIsSecure !== true)
    return failed('the zone above is not signed, or could not be validated, so its DS records prove nothing');
  const received = answers.filter(({ outcome }) => outcome !== 'unknown');
  const [first] = received;
  const sets = new Set(received.map(({ ds }) => ds.map(dsText).sort().join()));
  if (first === undefined || received.length < answers.length / 2)
    return failed('the parent did not return its DS records');
  if (sets.size > 1) return failed('the addresses of the parent show different DS records: try again later');
  if (first.ds.length === 0) return failed('the parent shows no DS record');
  const evidence = await resolver.observeTheirKeys(name, { ours: nameservers, ds: first.ds, signal });
  const judged = judgeTheirKeys(evidence);
  if (judged.kind === 'failed') return judged;
  if (!judged.isSame) return failed("the other operator's nameservers show different keys: try again later");
  const ours = new Set(keys.filter(({ origin }) => origin === 'ours').map(({ dnskey }) => textOf(dnskey)));
  const theirs = judged.keys.filter((rdata) => !ours.has(textOf(rdata)));
  if (theirs.length === 0) return failed("the other operator's nameservers show only keys of this fleet");
  return { kind: 'found', keys: theirs.map(fieldsOf) };
}

/** Returns the fleet's keys that all servers of the other operator show. Undefined if not observed. */
export async function seenAtTheirs(
  resolver: Observing,
  work: KeyWork,
  signal: AbortSignal,
): Promise<Facts['theirs']> {
  const { name, nameservers, keys, machine } = work;
  const ds = wantedDs(work);
  const judged = judgeTheirKeys(await resolver.observeTheirKeys(name, { ours: nameservers, ds, signal }));
  if (judged.kind === 'failed') return undefined;
  const shown = new Set(judged.keys.map(textOf));
  const ours = keys.filter(({ origin, dnskey }) => origin === 'ours' && shown.has(textOf(dnskey)));
  const here = new Set(
    keys.filter(({ id }) => machine.serving.keys.includes(String(id))).map(({ dnskey }) => textOf(dnskey)),
  );
  const hasOthers = !judged.isSame || judged.keys.some((rdata) => !here.has(textOf(rdata)));
  return { keys: ours.map(({ id }) => String(id)).sort(), ttl: judged.ttl, hasOthers };
}

function failed(message: string): Imported {
  return { kind: 'failed', message };
}

function fieldsOf(rdata: Uint8Array) {
  return {
    flags: ((rdata[0] as number) << 8) | (rdata[1] as number),
    protocol: rdata[2] as number,
    algorithm: rdata[3] as number,
    publicKey: rdata.subarray(4),
  };
}

function textOf(rdata: Uint8Array): string {
  return Buffer.from(rdata).toString('base64');
}
