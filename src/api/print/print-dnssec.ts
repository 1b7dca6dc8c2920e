// Prints the DNSSEC state of a domain.

import type { z } from 'zod';
import { dsFields } from '../../checks/dnssec/ds-evidence.ts';
import { keyOf, listedForeign, type Machine } from '../../checks/dnssec/machine.ts';
import { RULES } from '../../checks/dnssec/rules.ts';
import { dnssecFindings, waitInWords } from '../../checks/dnssec/told/dnssec-findings.ts';
import { dnssecStatus } from '../../checks/dnssec/told/dnssec-status.ts';
import type { DelegatedTo } from '../../checks/dnssec/told/foreign-findings.ts';
import { dsOfKey, type ParentView, viewParent } from '../../checks/dnssec/told/parent-view.ts';
import { ASKED_DIGEST, registrarAction } from '../../checks/dnssec/told/registrar-action.ts';
import { DIGEST } from '../../dns/dnssec/ds-digest.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { StoredDnssec } from '../../store/dnssec/dnssec-state.ts';
import { wantedDenial } from '../../store/keys/signed-zone.ts';
import { flagsOf } from '../../zone/signing/signing-key.ts';
import type { Dnssec } from '../schemas/dnssec.ts';

type Body = z.input<typeof Dnssec>;
type DnssecKey = StoredDnssec['keys'][number];
type KeyBody = Body['keys'][number];

/** The algorithms that Zonefleet signs with (RFC 6605, RFC 8080). */
const ALGORITHM_NAMES: ReadonlyMap<number, string> = new Map([
  [13, 'ECDSAP256SHA256'],
  [15, 'ED25519'],
]);
/** Algorithm of a new key. */
const DEFAULT_ALGORITHM = 13;

/** State of a domain that was never signed. */
export const NO_DNSSEC: Body = {
  status: 'off',
  goal: 'unsigned',
  denial: 'nsec',
  algorithm: printAlgorithm(DEFAULT_ALGORITHM),
  ds: [],
  dnskey: [],
  keys: [],
  registrar: { action: 'none', add: [], remove: [], message: 'Nothing to enter.' },
  foreign_keys: [],
  findings: [],
};

export function printDnssec(stored: StoredDnssec, delegatedTo: DelegatedTo, nowMs = Date.now()): Body {
  const { signed, machine, keys } = stored;
  if (machine === null) return NO_DNSSEC;
  const view = viewParent(machine, RULES);
  const { from, add, remove, ...registrar } = registrarAction(machine, RULES);
  const served = keys.filter(
    ({ id, origin }) => origin === 'ours' && machine.serving.keys.includes(String(id)),
  );
  return {
    status: dnssecStatus(machine, RULES),
    goal: machine.goal,
    denial: signed.denial,
    ...(wantedDenial(signed) !== signed.denial && { next_denial: wantedDenial(signed) }),
    algorithm: printAlgorithm(signed.algorithm),
    ds: machine.asked.flatMap((id) =>
      [DIGEST.SHA256, DIGEST.SHA384].flatMap((type) => printDs(dsOfKey(keyOf(machine, id), type))),
    ),
    dnskey: served.map(printDnskey),
    keys: keys.filter(({ origin }) => origin === 'ours').map((key) => printKey(key, machine, view)),
    ...printParent(machine, view),
    registrar: {
      ...registrar,
      ...(from !== undefined && { from: new Date(from).toISOString() }),
      add: add.flatMap(printDs),
      remove: [...remove],
    },
    ...printSignatures(stored),
    ...printLeaving(view),
    foreign_keys: keys.filter(({ id }) => listedForeign(machine).includes(String(id))).map(printDnskey),
    ...printImport(machine),
    findings: dnssecFindings(machine, delegatedTo, nowMs, RULES).map((finding) => ({ ...finding })),
  };
}

function printImport({ foreign }: Machine): Pick<Body, 'foreign_import'> {
  const { importAskedAt = null, imported = null } = foreign ?? {};
  if (importAskedAt !== null)
    return { foreign_import: { state: 'asked', at: new Date(importAskedAt).toISOString() } };
  if (imported === null) return {};
  const { at, failure } = imported;
  const state = failure === undefined ? 'done' : 'failed';
  const message = failure === undefined ? {} : { message: failure };
  return { foreign_import: { state, at: new Date(at).toISOString(), ...message } };
}

function printAlgorithm(number: number): Body['algorithm'] {
  return { number, name: ALGORITHM_NAMES.get(number) ?? String(number) };
}

function printDs(text: string | undefined): Body['ds'] {
  if (text === undefined) return [];
  const { keyTag, algorithm, digestType, digest } = dsFields(text);
  return [
    {
      key_tag: keyTag,
      algorithm,
      digest_type: digestType,
      digest,
      text,
      cds: digestType === ASKED_DIGEST,
    },
  ];
}

function printDnskey({ dnskey, tag }: DnssecKey): Body['dnskey'][number] {
  return {
    flags: flagsOf(dnskey),
    protocol: dnskey[2] as number,
    algorithm: dnskey[3] as number,
    public_key: Buffer.from(dnskey.subarray(4)).toString('base64'),
    key_tag: tag,
    text: printRdata(TYPE.DNSKEY, dnskey),
  };
}

function printKey(key: DnssecKey, machine: Machine, view: ParentView): KeyBody {
  return {
    id: key.id,
    role: key.role,
    key_tag: key.tag,
    algorithm: key.algorithm,
    origin: key.origin,
    state: stateOf(String(key.id), machine),
    ds: dsStateOf(String(key.id), machine, view),
    made_at: key.madeAt.toISOString(),
    ...printNext(String(key.id), machine),
  };
}

function stateOf(id: string, { serving, wanted, goal }: Machine): KeyBody['state'] {
  const isServed = serving.keys.includes(id) || serving.dataSigners.includes(id);
  const isWanted = goal === 'signed' && (wanted?.sep === id || wanted?.data === id);
  if (!isServed) return isWanted ? 'made' : 'withdrawn';
  if (!isWanted) return 'retiring';
  return serving.dataSigners.includes(id) || serving.keySigners.includes(id) ? 'signing' : 'published';
}

function dsStateOf(
  id: string,
  machine: Machine,
  { records, everywhere, addresses }: ParentView,
): KeyBody['ds'] {
  const shown = records.filter(({ keyId, meaning }) => keyId === id && meaning !== 'mistyped');
  if (shown.some(({ meaning }) => meaning === 'unwanted')) return 'unwanted';
  if (shown.some((record) => record.addresses < addresses)) return 'partial';
  if (everywhere.includes(id) || shown.length > 0) return 'seen';
  return machine.asked.includes(id) ? 'wanted' : 'none';
}

/** Returns the next step of a key, if it waits for one. */
function printNext(id: string, { waiting }: Machine): Pick<KeyBody, 'next'> {
  if (waiting === null || !waiting.keys.includes(id)) return {};
  const { cause, until } = waiting;
  const words = waitInWords(cause);
  return {
    next: {
      step: cause,
      ...(words !== undefined && { waits_for: words }),
      ...(until !== undefined && { at: new Date(until).toISOString() }),
    },
  };
}

function printParent({ parent, keys }: Machine, view: ParentView): Pick<Body, 'at_parent'> {
  if (parent.askedAt === null) return {};
  return {
    at_parent: {
      checked_at: new Date(parent.askedAt).toISOString(),
      addresses: view.addresses,
      agreeing: view.agreeing,
      ...(view.ttl !== undefined && { ttl: view.ttl }),
      ds: view.records.map(({ text, meaning, keyId }) => {
        const isOurs = meaning === 'wanted' || meaning === 'unwanted';
        const key = isOurs ? keys.find(({ id }) => id === keyId) : undefined;
        return { text, ours: isOurs, ...(key !== undefined && { key_id: Number(key.id) }) };
      }),
    },
  };
}

function printSignatures({ expiresAt, resignAt }: StoredDnssec): Pick<Body, 'signatures'> {
  if (expiresAt === null || resignAt === null) return {};
  return { signatures: { made_until: expiresAt.toISOString(), next_refresh: resignAt.toISOString() } };
}

/** Shown before a move, because validating resolvers reject a domain whose nameservers are changed too early. */
function printLeaving({ records, ttl = 0 }: ParentView): Pick<Body, 'leaving'> {
  const ours = records.filter(({ meaning }) => meaning === 'wanted' || meaning === 'unwanted');
  if (ours.length === 0) return {};
  return {
    leaving: {
      wait_seconds: ttl,
      message: `To move this domain to another operator without an outage: disable DNSSEC here, remove the DS at your registrar, wait until the status is no longer ds_removal (at least ${ttl} seconds, because resolvers cache the DS that long), and only then change the nameservers. If the other operator can sign with the keys of this zone (export-private-keys), or can publish them while you publish theirs here (foreign keys), it can move signed.`,
    },
  };
}
