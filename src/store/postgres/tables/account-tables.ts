// Accounts, their plans and people, and the fleet’s settings.

import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { Overrides } from '../../../billing/entitlements.ts';
import type { SubscriptionStatus } from '../../../billing/subscription.ts';

export type Role = 'owner' | 'admin' | 'editor' | 'viewer';

interface SettingsTable {
  name: string;
  value: ColumnType<unknown, string, string>;
}

interface PlansTable {
  id: GeneratedAlways<number>;
  slug: string;
  name: string;
  max_records: number | null;
  max_domains: number | null;
  /** Of one account's domains so many may be pending or unverified. */
  max_claims: number | null;
  max_traffic_gb: number | null;
  max_rules_per_set: number | null;
  max_cache_cap_mb: number;
  logs_enabled: boolean;
  monitoring_enabled: boolean;
  rules_enabled: boolean;
  cache_purge_enabled: boolean;
  custom_ssl_enabled: boolean;
  ws_enabled: boolean;
  host_header_edit_enabled: boolean;
  dedicated_support_enabled: boolean;
  quota_reset_days: number;
}

interface PlanTermsTable {
  id: GeneratedAlways<number>;
  plan_id: number;
  days: number;
  price_rials: number;
  created_at: Generated<Date>;
  /** It is sold no more; who has it keeps it. */
  retired_at: Date | null;
}

interface AccountsTable {
  id: GeneratedAlways<number>;
  email: string;
  name: string | null;
  is_admin: Generated<boolean>;
  active: Generated<boolean>;
  /** The reseller that deactivated it; null: the operator, or it is active. */
  deactivated_by: Generated<number | null>;
  provider_id: number | null;
  is_reseller: Generated<boolean>;
  /** The account was not made by an operator. */
  self_registered: Generated<boolean>;
  /** When it had its trial. */
  trial_at: Date | null;
  /** The plan of the account's new domains; null: none. */
  plan_id: number | null;
  /** The email as it is compared: in lower case, NFC. */
  email_key: string | null;
  email_confirmed_at: Generated<Date | null>;
  password_hash: Generated<string | null>;
  password_set_at: Generated<Date | null>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

interface ApiKeysTable {
  id: GeneratedAlways<number>;
  account_id: number;
  name: string;
  /** The first characters, so that people can tell keys apart. */
  prefix: string;
  /** The SHA-256 of the whole text. */
  hash: Buffer;
  read_only: boolean;
  domains: string[] | null;
  names: string[] | null;
  types: string[] | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  created_at: Generated<Date>;
}

interface MembershipsTable {
  domain_id: number;
  account_id: number;
  role: Exclude<Role, 'owner'>;
  created_at: Generated<Date>;
  granted_by: number | null;
}

/** How an invite came to its end. One that is open is over once it expires. */
export type InviteEnd = 'open' | 'accepted' | 'revoked';

interface InvitesTable {
  id: GeneratedAlways<number>;
  domain_id: number;
  email: string;
  /** The email as it is compared. */
  email_key: string;
  role: Exclude<Role, 'owner'>;
  /** Null: the operator. */
  invited_by: number | null;
  invited_by_email: string | null;
  status: Generated<InviteEnd>;
  created_at: Generated<Date>;
  /** When it was made, or sent again. */
  sent_at: Generated<Date>;
  expires_at: Date;
  ended_at: Date | null;
  accepted_by: number | null;
}

interface SubscriptionsTable {
  id: GeneratedAlways<number>;
  domain_id: number;
  account_id: number;
  plan_id: number;
  status: SubscriptionStatus;
  started_at: Generated<Date>;
  expires_at: Date | null;
  grace_until: Date | null;
  auto_renew: Generated<boolean>;
  quota_reset_days: number;
  is_trial: Generated<boolean>;
  /** Null: it has no term, and no end but that of a trial. */
  term_id: number | null;
  overrides: ColumnType<Overrides | null, string | null | undefined, string | null>;
  /** Null: it is the domain's own. */
  ended_at: Date | null;
  charge_tried_at: Date | null;
  /** When the workers look at it next. */
  due_at: Date | null;
}

/** One row. */
interface TrafficRoundTable {
  id: Generated<number>;
  /** When workers look at the traffic of all domains next. */
  due_at: Generated<Date>;
}

/** The last that the owner of a domain was told of its traffic. */
interface TrafficMailsTable {
  domain_id: number;
  period_start: Date;
  percent: number;
}

export interface AccountTables {
  settings: SettingsTable;
  plans: PlansTable;
  plan_terms: PlanTermsTable;
  accounts: AccountsTable;
  api_keys: ApiKeysTable;
  memberships: MembershipsTable;
  invites: InvitesTable;
  subscriptions: SubscriptionsTable;
  traffic_round: TrafficRoundTable;
  traffic_mails: TrafficMailsTable;
}
