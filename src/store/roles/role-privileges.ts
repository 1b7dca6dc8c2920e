// What each process may do in the database: role × table × privileges, in one place. `migrate` grants exactly this each
// time it runs; nothing else is granted.

/** The roles of the three kinds of processes. The administrator, or `npm start`, sets their passwords. */
export const PROCESS_ROLES = ['zonefleet_node', 'zonefleet_api', 'zonefleet_worker'] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];
/** Owns tables and schemas if a superuser migrates; otherwise the role that migrates owns them. */
export const OWNER_ROLE = 'zonefleet_owner';

type Letter = 's' | 'i' | 'u' | 'd';
const PRIVILEGES: Readonly<Record<Letter, string>> = { s: 'select', i: 'insert', u: 'update', d: 'delete' };

/** Select, insert, update, delete by their first letters; '' grants nothing. */
interface Granted {
  readonly node: string;
  readonly api: string;
  readonly worker: string;
}

const grants = (node: string, api: string, worker: string): Granted => ({ node, api, worker });

/** Every table of ours. Workers also purge what is old, and a row that is locked counts as an update. */
export const TABLE_GRANTS: Readonly<Record<string, Granted>> = {
  kysely_migration: grants('s', 's', 's'),
  kysely_migration_lock: grants('', '', ''),
  zones: grants('s', 'siu', 'siud'),
  zone_records: grants('s', 'siud', 'siud'),
  changes: grants('s', 'si', 'sid'),
  feed: grants('s', 's', 'su'),
  nodes: grants('s', 's', 's'), // a node's report: NODE_REPORT_COLUMNS; global admins confirm: `confirmed_id`
  settings: grants('', 's', 'siu'), // workers: that proxied names have edge marks, and that all domains do
  accounts: grants('', 'siu', ''),
  api_keys: grants('', 'siu', ''),
  sessions: grants('', 'siud', 'sd'),
  reseller_tokens: grants('', 'siud', ''),
  client_tries: grants('', 'siu', ''),
  account_devices: grants('', 'siud', 'sd'),
  account_links: grants('', 'siud', 'sid'),
  account_totp: grants('', 'siud', ''),
  recovery_codes: grants('', 'sid', ''),
  sign_in_failures: grants('', 'siud', 'sd'),
  mails: grants('', 'i', 'sud'),
  takeover_mails: grants('', '', 'sd'), // written by FUNCTIONS
  dnssec_reminders: grants('', '', ''), // written by FUNCTIONS
  key_boxes: grants('', 'siu', 'siu'),
  key_checks: grants('', 'si', 'si'),
  signed_zones: grants('', 'siu', 'siu'), // goes with its domain
  signing_keys: grants('', 'siu', 'siu'),
  hashed_names: grants('', 'sid', 'sid'), // go with their zone
  given_ns_sets: grants('', 'si', 'si'),
  account_ns_sets: grants('', 'siu', 's'),
  memberships: grants('', 'siud', ''),
  invites: grants('', 'siu', 'sd'),
  invite_tokens: grants('', 'sid', 'i'),
  invite_windows: grants('', 'siu', 'sd'),
  plans: grants('', 'siu', 's'),
  plan_terms: grants('', 'siu', 's'),
  subscriptions: grants('', 'siu', 'siu'),
  idempotency_keys: grants('', 'siud', 'sud'),
  idempotency_octets: grants('', 'siud', 'sud'),
  call_windows: grants('', 'siud', ''),
  domains: grants('', 'siu', 'sud'),
  domain_checks: grants('', 'siu', 'su'), // goes with its domain
  domain_verifications: grants('', 'siud', 'siu'),
  domain_changes: grants('', 'si', 'si'),
  audit_log: grants('', 'si', 'sid'), // no process changes a row
  records: grants('', 'siud', 'siud'),
  rules: grants('', 'siud', 'su'), // a record that a worker deletes is taken from its rules
  rule_pages: grants('', 'siud', ''),
  name_holders: grants('', 'siu', 'siud'),
  name_takeovers: grants('', 's', 'sid'),
  ns_rights: grants('', 'siud', 'siud'),
  ns_sightings: grants('', 's', 'siud'),
  swept_names: grants('', 'siud', 'siud'),
  child_checks: grants('', 's', 'siu'), // goes with its domain
  check_runs: grants('', 's', 'siud'),
  check_counts: grants('', 's', 'siud'),
  check_hours: grants('', 's', 'siud'),
  breaker_trips: grants('', 's', 'siu'), // global admins release and freeze: RELEASE_COLUMNS, FREEZE_COLUMNS
  check_shares: grants('', 'siu', 'siud'),
  asked_names: grants('s', '', 'sud'), // a node's reports: ASKED_COLUMNS
  dns_counts: grants('', '', 'sud'), // a node's reports: COUNTS_COLUMNS
  resolver_leases: grants('', '', 'siud'),
  resolver_addresses: grants('', '', 'siud'),
  resolver_silences: grants('', '', 'siud'),
  trust_anchors: grants('', '', 'sid'),
  vantages: grants('', 's', 's'), // the operator adds and removes them; what they report: VANTAGE_REPORT_COLUMNS
  vantage_jobs: grants('', 'su', 'siud'),
  vantage_nonces: grants('', 'sid', 'sd'),
  verification_runs: grants('', 's', 'siud'),
  scans: grants('', 'siud', 'siud'),
  edges: grants('', 's', 's'), // the operator registers them; what they report: EDGE_REPORT_COLUMNS
  edge_unsupported: grants('', 'siud', ''),
  visitor_key: grants('', 's', ''), // made by its migration, for good
  edge_batches: grants('', 'si', 'sud'), // go with their edge
  cache_purges: grants('', 'siu', 'sud'), // go with their domain
  cache_purge_edges: grants('', 'siud', ''), // go with their purge and edge
  cached_entries: grants('', 'siud', 'sd'),
  cached_domains: grants('', 'siud', 'siud'),
  cached_nodes: grants('', 'siu', 'sd'),
  edge_countries: grants('', 's', 's'),
  dismissed_recommendations: grants('', 'siu', ''), // goes with its domain
  edge_sets: grants('s', 's', 'su'),
  edge_signings: grants('', 'siu', 'siud'),
  edge_changes: grants('', 'siu', 'siud'), // written by triggers
  certificates: grants('', 'siud', 'siud'), // go with their domain, as the next two
  acme_orders: grants('', 'siud', 'siud'),
  acme_asks: grants('', 'siud', ''), // update: rows that are forgotten are locked
  acme_answers: grants('', 'sd', 'siud'),
  acme_accounts: grants('', '', 'siud'),
  uptime_round: grants('', 's', 'su'),
  uptime_states: grants('', '', 'siud'), // go with their domain, as the next one
  uptime_incidents: grants('', 's', 'siud'),
  outage_mails: grants('', '', ''), // written by FUNCTIONS
  traffic_round: grants('', '', 'su'),
  traffic_mails: grants('', '', 's'), // written by FUNCTIONS
  webhooks: grants('', 'siud', 'su'), // go with their domain, as what they are told goes with them
  webhook_deliveries: grants('', 'si', 'siud'),
  webhook_calls: grants('', '', 'siud'),
  wallets: grants('', 'siu', 'siu'),
  ledger: grants('', 'si', 'si'),
  invoices: grants('', 's', ''), // written by FUNCTIONS
  invoice_years: grants('', '', ''),
  payments: grants('', 'siu', 'sd'),
  tickets: grants('', 'siu', 'sd'),
  ticket_messages: grants('', 'si', ''), // go with their ticket
  aname_targets: grants('', 'siu', 'siud'), // read `for share`
};

/** All columns in which a node reports itself; `confirmed_id` belongs to the operator. */
export const NODE_REPORT_COLUMNS = [
  'name',
  'instance',
  'started_at',
  'seen_at',
  'left_at',
  'loaded',
  'epoch',
  'position',
  'snapshot',
  'zones',
  'records',
  'held_id',
  'held_since',
  'held_zones',
  'unserved',
  'abilities',
  'image_octets',
  'image_capacity',
  'version',
  'answered',
  'dropped',
  'forgotten_at',
] as const;

/** The columns in which a node reports zones that are asked for. */
export const ASKED_COLUMNS = ['slot', 'zone_id'] as const;

/** The columns in which a node reports its counts of answers. */
export const COUNTS_COLUMNS = [
  'node',
  'instance',
  'part',
  'minute',
  'zone_ids',
  'types',
  'rcodes',
  'counts',
  'name_zone_ids',
  'names',
  'name_counts',
] as const;

/** Functions that run with the rights of the tables' owner: what only they may do. */
export const FUNCTIONS: Readonly<Record<string, readonly ProcessRole[]>> = {
  'order_takeover_mails(bigint, text)': ['zonefleet_worker'],
  'order_dnssec_reminder(bigint, text)': ['zonefleet_worker'],
  'order_outage_mail(bigint, text, boolean)': ['zonefleet_worker'],
  'order_traffic_mail(bigint, timestamptz, integer, text)': ['zonefleet_worker'],
  'accounts_in_debt()': ['zonefleet_worker'],
  'providers_of(bigint[])': ['zonefleet_api', 'zonefleet_worker'],
  'issue_invoice(bigint, bigint, bigint, bigint, jsonb, bigint, timestamptz, timestamptz, timestamptz, text, bigint, bigint)':
    ['zonefleet_api', 'zonefleet_worker'],
  'note_edge_change(text)': ['zonefleet_api', 'zonefleet_worker'],
};

/** The columns in which the API notes what observers report; their keys and labels belong to the operator. */
export const VANTAGE_REPORT_COLUMNS = ['seen_at', 'seen_address', 'answers', 'dropped'] as const;

/** The columns in which the API notes what edges report. */
export const EDGE_REPORT_COLUMNS = [
  'seen_at',
  'called_at',
  'seen_address',
  'software',
  'load',
  'config_cursor',
] as const;

/** The columns by which global admins let removals of a node through. */
export const CONFIRM_COLUMNS = ['confirmed_id'] as const;

/** The columns by which global admins release the breaker, and change a freeze that they made. */
export const RELEASE_COLUMNS = [
  'released_at',
  'released_by',
  'ended_at',
  'frozen_by',
  'reason',
  'frozen_until',
] as const;

/** The columns by which global admins freeze moves by hand. */
export const FREEZE_COLUMNS = [
  'parent',
  'tripped_at',
  'checked',
  'turned',
  'ended_at',
  'frozen_by',
  'reason',
  'frozen_until',
] as const;

/** Sequences that statements draw numbers from; a column's own default needs no privilege. */
export const SEQUENCES: Readonly<Record<string, readonly ProcessRole[]>> = {
  change_version: ['zonefleet_api', 'zonefleet_worker'],
  movement_id: ['zonefleet_api', 'zonefleet_worker'],
  edge_version: ['zonefleet_api', 'zonefleet_worker'],
  rules_id_seq: ['zonefleet_api'],
  records_id_seq: ['zonefleet_api', 'zonefleet_worker'],
  check_runs_id_seq: ['zonefleet_worker'],
  certificates_id_seq: ['zonefleet_api', 'zonefleet_worker'],
  webhooks_id_seq: ['zonefleet_api'],
  key_boxes_id_seq: ['zonefleet_api', 'zonefleet_worker'],
  signing_keys_id_seq: ['zonefleet_api', 'zonefleet_worker'],
};

/** BullMQ's schema holds only jobs: producers lock, read and move the same rows as workers. */
export const QUEUE_SCHEMA_NAME = 'bullmq';
export const QUEUE_ROLES: readonly ProcessRole[] = ['zonefleet_api', 'zonefleet_worker'];

/** The privileges as SQL: `select, insert`; undefined: none. */
export function privilegesOf(role: ProcessRole, table: string): string | undefined {
  const granted = TABLE_GRANTS[table];
  if (granted === undefined) return undefined;
  const letters = {
    zonefleet_node: granted.node,
    zonefleet_api: granted.api,
    zonefleet_worker: granted.worker,
  };
  return [...letters[role]].map((letter) => PRIVILEGES[letter as Letter]).join(', ') || undefined;
}
