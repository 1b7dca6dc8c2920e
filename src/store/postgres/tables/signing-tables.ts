// Signed zones and their keys.

import type { Generated, GeneratedAlways } from 'kysely';
import type { AnchorState } from '../../../checks/validation/roll-anchors.ts';

/** Where a zone stands on its way to being signed, or from it. While `signing` and `unsigning` it is answered as unsigned. */
export type SigningPhase =
  | 'signing'
  | 'waiting'
  | 'ds_wanted'
  | 'secure'
  | 'rolling'
  | 'ds_removal'
  | 'unsigning'
  | 'off';

export type DenialKind = 'nsec' | 'nsec3';

/** Of the chain that is not of the kind `denial`: `adding` that it may take its place, `removing` since it is out of use. */
export type DenialChange = 'adding' | 'removing';

export type KeyRole = 'csk' | 'ksk' | 'zsk';

/** What a key signs: the DNSKEY set (and CDS, CDNSKEY), all other sets, or both. */
export type KeySigns = 'none' | 'keys' | 'data' | 'both';

interface SignedZonesTable {
  id: GeneratedAlways<number>;
  domain_id: number | null;
  /** The domain's. */
  account_id: number | null;
  /** Of an operator zone. */
  zone_name: string | null;
  goal: 'signed' | 'unsigned';
  /** With which answers prove what is not there. */
  denial: DenialKind;
  denial_change: DenialChange | null;
  algorithm: number;
  split: Generated<boolean>;
  phase: SigningPhase;
  /** Compare-and-set of steps. */
  seq: Generated<number>;
  machine: unknown;
  findings: unknown;
  /** CDS and CDNSKEY ask the parent to remove the DS (RFC 8078 §4). */
  cds_delete: Generated<boolean>;
  /** The SOA of the file that was loaded. */
  loaded_soa: Buffer | null;
  due_at: Date | null;
  /** From then on signatures are made anew; null: there are none of ours. */
  resign_at: Date | null;
  /** When the first signature ends. */
  expires_at: Date | null;
  leased_until: Date | null;
  verbatim: Generated<boolean>;
  /** The parent has shown a DS since the zone is signed. */
  had_ds: Generated<boolean>;
  /** The zones of nameservers that were told of it (RFC 9615); null: they need not be. */
  signalled_in: number[] | null;
  /** As `dnssecStatus` reads it from the machine. */
  status: Generated<string>;
  /** When a user asked for a look last. */
  look_asked_at: Date | null;
  /** The next look asks the parent, whenever it was asked last. */
  ds_due: Generated<boolean>;
  /** Since when the owner has something to do at the registrar; null: nothing. */
  wanted_since: Date | null;
  reminded_at: Date | null;
  created_at: Generated<Date>;
}

interface SigningKeysTable {
  id: Generated<number>;
  signed_zone_id: number;
  role: KeyRole;
  algorithm: number;
  flags: number;
  key_tag: number;
  /** The last field of the DNSKEY record. */
  public_key: Buffer;
  box_id: number | null;
  sealed: Buffer | null;
  origin: Generated<'ours' | 'foreign'>;
  signs: Generated<KeySigns>;
  in_cds: Generated<boolean>;
  made_at: Generated<Date>;
  published_at: Date | null;
  retired_at: Date | null;
}

/** Of zones with NSEC3. */
interface HashedNamesTable {
  zone_id: number;
  /** The owner as stored, its characters in reverse order. */
  reversed: string;
}

/** Of the root. */
interface TrustAnchorsTable {
  /** A hash of the DS records that were configured. */
  origin: string;
  key: Buffer;
  state: AnchorState;
  since: Date;
}

export interface SigningTables {
  signed_zones: SignedZonesTable;
  signing_keys: SigningKeysTable;
  hashed_names: HashedNamesTable;
  trust_anchors: TrustAnchorsTable;
}
