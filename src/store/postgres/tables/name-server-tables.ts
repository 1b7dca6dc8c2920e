// Which sets of name servers domains are given, and who may have a name.

import type { Generated } from 'kysely';
import type { SetKind } from '../../../zone/pool/pool-use.ts';

/** A set of nameserver names in a column. */
export interface StoredSet {
  readonly names: readonly string[];
  /** No other account ever has it for this name. */
  readonly exclusive: boolean;
}

/** A set proves a name for one account. */
interface NsRightsTable {
  name: string;
  /** Sorted. */
  names: string[];
  account_id: number;
  exclusive: boolean;
  made_at: Generated<Date>;
}

/** Names of ours that the parent of a name showed. */
interface NsSightingsTable {
  name: string;
  /** Sorted. */
  names: string[];
  first_seen_at: Date;
  last_seen_at: Date;
}

/** When mails were ordered that warn whoever holds a name. */
interface TakeoverMailsTable {
  domain_id: number;
  account_id: number;
  at: Generated<Date>;
}

interface NameTakeoversTable {
  name: string;
  at: Date;
  from_account_id: number;
  to_account_id: number;
}

interface NameHoldersTable {
  name: string;
  account_id: number;
  /** When its domain was last known to be active here. */
  active_at: Date;
}

/** The combinations of the nameserver pool that were ever given. */
interface GivenNsSetsTable {
  /** Folded names, one of each list, in the order of the lists. */
  names: string[];
  kind: SetKind;
  /** Whose set it is, for `exclusive`; the account may be gone. */
  account_id: number | null;
  given_at: Generated<Date>;
}

/** The set of each account that has one. */
interface AccountNsSetsTable {
  account_id: number;
  names: string[];
  given_at: Generated<Date>;
}

/** A name whose last domain has ended, and that is still looked at. */
interface SweptNamesTable {
  name: string;
  /** The account that first had it so. */
  account_id: number;
  ended_at: Date;
  due_at: Date;
  /** The newest conclusive look saw a name of ours. */
  is_shown: Generated<boolean>;
}

export interface NameServerTables {
  ns_rights: NsRightsTable;
  ns_sightings: NsSightingsTable;
  takeover_mails: TakeoverMailsTable;
  name_takeovers: NameTakeoversTable;
  name_holders: NameHoldersTable;
  given_ns_sets: GivenNsSetsTable;
  account_ns_sets: AccountNsSetsTable;
  swept_names: SweptNamesTable;
}
