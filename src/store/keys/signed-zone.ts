// A signed zone with its published keys, as a column of the statement that locks it, and the keys' apex records.

import { type RawBuilder, sql } from 'kysely';
import { DIGEST, dsDigest } from '../../dns/dnssec/ds-digest.ts';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { isMade } from '../../zone/signing/signed-types.ts';
import { EDGE_MARK_TYPE, isMark, type ZoneRecord } from '../../zone/zone.ts';
import type { Database } from '../postgres/database.ts';
import type { DenialChange, DenialKind, KeyRole, KeySigns, SigningPhase } from '../postgres/tables/schema.ts';

export interface SignedZone {
  readonly id: number;
  readonly goal: 'signed' | 'unsigned';
  readonly denial: DenialKind;
  /** State of the second chain (NSEC or NSEC3) during a change of `denial`. Null if there is only one chain. */
  readonly denialChange: DenialChange | null;
  readonly algorithm: number;
  readonly split: boolean;
  readonly phase: SigningPhase;
  readonly seq: number;
  /** True if CDS and CDNSKEY request the removal of all DS records (RFC 8078 §4). */
  readonly cdsDelete: boolean;
  /** Seconds since 1970. Null if the fleet has not signed anything in the zone. */
  readonly expiresAt: number | null;
  /** Keys that are published or sign, except retired ones. */
  readonly keys: readonly StoredKey[];
}

export interface StoredKey {
  readonly id: number;
  readonly role: KeyRole;
  readonly origin: 'ours' | 'foreign';
  readonly signs: KeySigns;
  readonly inCds: boolean;
  /** True if the key is in the DNSKEY set. In an algorithm rollover, its signatures come first (RFC 6781 §4.1.4). */
  readonly isPublished: boolean;
  readonly tag: number;
  /** Rdata of the DNSKEY record. */
  readonly dnskey: Uint8Array;
}

/** Returns JSON for `decodeSignedZone`, or null. `s` is the row of signed_zones. `keys` has the rows of the zone's keys. */
export function signedZoneJson(keys: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`case when s.id is not null then jsonb_build_object(
  'id', s.id, 'goal', s.goal, 'denial', s.denial, 'denialChange', s.denial_change, 'algorithm', s.algorithm, 'split', s.split, 'phase', s.phase,
  'seq', s.seq, 'cdsDelete', s.cds_delete, 'expiresAt', floor(extract(epoch from s.expires_at)),
  'keys', (select coalesce(jsonb_agg(jsonb_build_object(
      'id', k.id, 'role', k.role, 'origin', k.origin, 'signs', k.signs, 'inCds', k.in_cds,
      'isPublished', k.published_at is not null, 'tag', k.key_tag,
      'flags', k.flags, 'algorithm', k.algorithm, 'publicKey', encode(k.public_key, 'base64')) order by k.id), '[]')
    from ${keys} k
    where k.signed_zone_id = s.id and (k.published_at is not null or k.signs <> 'none') and k.retired_at is null)) end`;
}

export const SIGNED_ZONE_JSON = signedZoneJson(sql`signing_keys`);

export type SignedZoneJson = Omit<SignedZone, 'keys'> & {
  readonly keys: readonly (Omit<StoredKey, 'dnskey'> & {
    readonly flags: number;
    readonly algorithm: number;
    readonly publicKey: string;
  })[];
};

export function decodeSignedZone({ keys, ...zone }: SignedZoneJson): SignedZone {
  return {
    ...zone,
    keys: keys.map(({ flags, algorithm, publicKey, ...key }) => ({
      ...key,
      dnskey: dnskeyOf(flags, algorithm, Buffer.from(publicKey, 'base64')),
    })),
  };
}

const DNSSEC_PROTOCOL = 3; // RFC 4034 §2.1.2

/** Returns the rdata of a DNSKEY record. */
export function dnskeyOf(flags: number, algorithm: number, publicKey: Uint8Array): Uint8Array {
  return Uint8Array.from([flags >> 8, flags & 0xff, DNSSEC_PROTOCOL, algorithm, ...publicKey]);
}

/** Returns true if rows are written with signatures: from the time the whole zone is signed until the apex is unsigned. */
export function isWrittenSigned(zone: SignedZone | undefined): zone is SignedZone {
  return zone !== undefined && !['signing', 'unsigning', 'off'].includes(zone.phase);
}

export function otherDenial(denial: DenialKind): DenialKind {
  return denial === 'nsec' ? 'nsec3' : 'nsec';
}

/** Returns the denial that the zone will use. */
export function wantedDenial({
  denial,
  denialChange,
}: Pick<SignedZone, 'denial' | 'denialChange'>): DenialKind {
  return denialChange === 'adding' ? otherDenial(denial) : denial;
}

/** Loads signed operator zones by name in stored form. Call it under the locks of their rows. */
export async function loadSignedZones(
  trx: Database,
  names: readonly string[],
): Promise<Map<string, SignedZone>> {
  const { rows } = await sql<{ name: string; signed: SignedZoneJson }>`
    select s.zone_name as name, ${SIGNED_ZONE_JSON} as signed from signed_zones s
    where s.zone_name = any(${names}::text[]) and not s.verbatim`.execute(trx);
  return new Map(rows.map(({ name, signed }) => [name, decodeSignedZone(signed)]));
}

/** Loads the signed zones of these domains. Call it under their locks. */
export async function loadSignedDomains(
  trx: Database,
  ids: readonly number[],
): Promise<Map<number, SignedZone>> {
  const { rows } = await sql<{ id: number; signed: SignedZoneJson }>`
    select s.domain_id as id, ${SIGNED_ZONE_JSON} as signed from signed_zones s
    where s.domain_id = any(${ids}::bigint[])`.execute(trx);
  return new Map(rows.map(({ id, signed }) => [id, decodeSignedZone(signed)]));
}

/** Loads one signed zone by a condition on `s`. */
export async function findSignedZone(
  trx: Database,
  condition: RawBuilder<unknown>,
): Promise<SignedZone | undefined> {
  const { rows } = await sql<{ signed: SignedZoneJson }>`
    select ${SIGNED_ZONE_JSON} as signed from signed_zones s where ${condition}`.execute(trx);
  return rows[0] && decodeSignedZone(rows[0].signed);
}

const KEY_TTL_SECONDS = 3600;
/** `0 0 0 00` and `0 3 0 AA==` request the removal of the DS records (RFC 8078 §4). */
const CDS_DELETE = Uint8Array.from([0, 0, 0, 0, 0]);
const CDNSKEY_DELETE = Uint8Array.from([0, 0, 3, 0, 0]);

const TYPES: ReadonlySet<number> = new Set([TYPE.DNSKEY, TYPE.CDS, TYPE.CDNSKEY]);

function isApexKeyType(type: number): boolean {
  return TYPES.has(type);
}

function apexKeyRecords(apex: Name, { keys, cdsDelete }: SignedZone): ZoneRecord[] {
  const record = (type: number, rdata: Uint8Array) => ({ owner: apex, type, ttl: KEY_TTL_SECONDS, rdata });
  const shown = keys.filter(({ inCds }) => inCds);
  const signals = cdsDelete
    ? [record(TYPE.CDS, CDS_DELETE), record(TYPE.CDNSKEY, CDNSKEY_DELETE)]
    : shown.flatMap((key) => [
        record(TYPE.CDS, dsOf(apex, key, DIGEST.SHA256)), // RFC 8624 §3.3
        record(TYPE.CDNSKEY, key.dnskey),
      ]);
  const published = keys.filter(({ isPublished }) => isPublished);
  return [...published.map(({ dnskey }) => record(TYPE.DNSKEY, dnskey)), ...signals];
}

/** Returns true if only the signer of a zone creates such a record. */
export function isOfSigner(apex: Name, { owner, type, rdata }: ZoneRecord): boolean {
  return (
    isMade(type) || (type === EDGE_MARK_TYPE && rdata.length > 0) || (owner === apex && isApexKeyType(type))
  );
}

/**
 * Adds the records of the keys at the apex: DNSKEY, and CDS and CDNSKEY while the parent should add a DS record. No
 * other function writes them.
 */
export function withApexKeys(
  apex: Name,
  signed: SignedZone,
  wanted: ReadonlyMap<Name, readonly ZoneRecord[]>,
): ReadonlyMap<Name, readonly ZoneRecord[]> {
  const others = (wanted.get(apex) ?? []).filter(({ type }) => !isApexKeyType(type));
  // CDS records of an unproved name would let any claimant set the DS record.
  const isUnproven = others.some(isMark);
  const shown = isUnproven ? withoutSignals(signed) : signed;
  return new Map([...wanted, [apex, [...others, ...apexKeyRecords(apex, shown)]]]);
}

function withoutSignals(signed: SignedZone): SignedZone {
  return { ...signed, cdsDelete: false, keys: signed.keys.map((key) => ({ ...key, inCds: false })) };
}

/** Returns the rdata of a key's DS record (RFC 4034 §5.1). */
export function dsOf(
  apex: Name,
  { tag, dnskey }: Pick<StoredKey, 'tag' | 'dnskey'>,
  digestType: number,
): Uint8Array {
  const digest = dsDigest(apex, dnskey, digestType) as Uint8Array; // always a known digest type
  return Uint8Array.from([tag >> 8, tag & 0xff, dnskey[3] as number, digestType, ...digest]);
}

export const DNSSEC_UNAVAILABLE = 'DnssecUnavailable';

/** Thrown if this process cannot write a signed zone. Nothing was written, because a signed zone is never written unsigned. */
export class DnssecUnavailable extends Error {
  override readonly name = DNSSEC_UNAVAILABLE;
}
