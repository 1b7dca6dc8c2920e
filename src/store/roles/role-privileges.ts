// The privileges of each process in the database: role × table × privileges. Each run of `migrate` grants exactly
// these, and those that features add.

/** The roles of the three kinds of processes. The administrator, or `npm start`, sets their passwords. */
export const PROCESS_ROLES = ['zonefleet_node', 'zonefleet_api', 'zonefleet_worker'] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];
/** Owns tables and schemas if a superuser migrates. Otherwise the role that migrates owns them. */
export const OWNER_ROLE = 'zonefleet_owner';

export interface Privileges {
  readonly tables: Readonly<Record<string, Granted>>;
  readonly columns?: readonly GrantedColumns[];
  /** Sequences that statements draw numbers from. A column's own default needs no privilege. */
  readonly sequences?: Readonly<Record<string, readonly ProcessRole[]>>;
  /** Functions that run with the rights of the tables' owner. */
  readonly functions?: Readonly<Record<string, readonly ProcessRole[]>>;
}

/** Select, insert, update, delete by their first letters; '' grants nothing. */
interface Granted {
  readonly node: string;
  readonly api: string;
  readonly worker: string;
}

/** Columns that a role may write although it may not write the table. */
interface GrantedColumns {
  readonly table: string;
  readonly role: ProcessRole;
  readonly may: readonly ('insert' | 'update')[];
  readonly columns: readonly string[];
}

export const grants = (node: string, api: string, worker: string): Granted => ({ node, api, worker });

/** The columns in which a node reports itself; `confirmed_id` belongs to the operator. */
const NODE_REPORT = [
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
];
/** The columns in which the API records what edges report. */
const EDGE_REPORT = ['seen_at', 'called_at', 'seen_address', 'software', 'load', 'config_cursor'];
/** The columns in which a node forwards a dynamic update. The answer belongs to the API. */
const UPDATE_MESSAGE = ['node', 'slot', 'instance', 'octets', 'address', 'transport', 'deadline'];
const ASKED = ['slot', 'zone_id'];
/** The columns in which a node records that a primary has sent NOTIFY. */
const NOTIFIED = ['slot', 'zone', 'serial'];
/** The columns in which a node reports its counts of responses. */
const COUNTS = [
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
];
/** The columns in which the API records reports of vantage points. Their keys and labels belong to the operator. */
const VANTAGE_REPORT = ['seen_at', 'seen_address', 'answers', 'dropped'];
/** The columns by which global admins release the breaker, and change a freeze that they made. */
const RELEASE = ['released_at', 'released_by', 'ended_at', 'frozen_by', 'reason', 'frozen_until'];
/** The columns by which global admins freeze status changes. */
const FREEZE = [
  'parent',
  'tripped_at',
  'checked',
  'turned',
  'ended_at',
  'frozen_by',
  'reason',
  'frozen_until',
];

/** Privileges on the tables of the core. Workers also delete old rows, and locking a row counts as an update. */
export const CORE_PRIVILEGES: Privileges = {
  tables: {
    kysely_migration: grants('s', 's', 's'),
    kysely_migration_lock: grants('', '', ''),
    zones: grants('s', 'siu', 'siud'),
    zone_records: grants('s', 'siud', 'siud'),
    changes: grants('s', 'si', 'sid'),
    feed: grants('s', 's', 'su'),
    nodes: grants('s', 's', 's'), // nodes' reports and confirmations: COLUMNS
    settings: grants('', 's', 'siu'), // workers record the use of edge marks
    accounts: grants('', 'siu', ''),
    api_keys: grants('', 'siu', ''),
    sessions: grants('', 'siud', 'sd'),
    reseller_tokens: grants('', 'siud', ''),
    account_devices: grants('', 'siud', 'sd'),
    account_links: grants('', 'siud', 'sid'),
    account_totp: grants('', 'siud', ''),
    recovery_codes: grants('', 'sid', ''),
    account_identities: grants('', 'siud', ''),
    identity_proofs: grants('', 'siud', 'sd'),
    sign_in_failures: grants('', 'siud', 'sd'),
    mails: grants('', 'i', 'sud'),
    takeover_mails: grants('', '', 'sd'), // written by FUNCTIONS
    dnssec_reminders: grants('', '', ''), // written by FUNCTIONS
    key_boxes: grants('', 'siu', 'siu'),
    key_checks: grants('', 'si', 'si'),
    signed_zones: grants('', 'siu', 'siud'), // deleted with its domain; workers delete the rows of copies
    signing_keys: grants('', 'siu', 'siu'),
    hashed_names: grants('', 'sid', 'sid'), // deleted with their zone
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
    domain_checks: grants('', 'siu', 'su'), // deleted with its domain
    domain_verifications: grants('', 'siud', 'siu'),
    domain_changes: grants('', 'si', 'si'),
    audit_log: grants('', 'si', 'sid'), // no process changes a row
    records: grants('', 'siud', 'siud'),
    rules: grants('', 'siud', 'su'), // workers remove deleted records from rules
    rule_pages: grants('', 'siud', ''),
    name_holders: grants('', 'siu', 'siud'),
    name_takeovers: grants('', 's', 'sid'),
    ns_rights: grants('', 'siud', 'siud'),
    ns_sightings: grants('', 's', 'siud'),
    swept_names: grants('', 'siud', 'siud'),
    child_checks: grants('', 's', 'siu'), // deleted with its domain
    check_runs: grants('', 's', 'siud'),
    check_counts: grants('', 's', 'siud'),
    check_hours: grants('', 's', 'siud'),
    breaker_trips: grants('', 's', 'siu'), // global admins release and freeze: COLUMNS
    check_shares: grants('', 'siu', 'siud'),
    asked_names: grants('s', '', 'sud'), // a node's reports: COLUMNS
    dns_counts: grants('', '', 'sud'), // a node's reports: COLUMNS
    resolver_leases: grants('', '', 'siud'),
    resolver_addresses: grants('', '', 'siud'),
    resolver_silences: grants('', '', 'siud'),
    trust_anchors: grants('', '', 'sid'),
    vantages: grants('', 's', 's'), // managed by the operator; reports: COLUMNS
    vantage_jobs: grants('', 'su', 'siud'),
    vantage_nonces: grants('', 'sid', 'sd'),
    verification_runs: grants('', 's', 'siud'),
    scans: grants('', 'siud', 'siud'),
    edges: grants('', 's', 's'), // managed by the operator; reports: COLUMNS
    edge_unsupported: grants('', 'siud', ''),
    visitor_key: grants('', 's', ''), // created once by the migration
    edge_batches: grants('', 'si', 'sud'), // deleted with their edge
    edge_countries: grants('', 's', 's'),
    edge_sets: grants('s', 's', 'su'),
    edge_signings: grants('', 'siu', 'siud'),
    edge_changes: grants('', 'siu', 'siud'), // written by triggers
    certificates: grants('', 'siud', 'siud'), // deleted with their domain, like the next two
    acme_orders: grants('', 'siud', 'siud'),
    acme_asks: grants('', 'siud', ''), // update: deletes lock rows
    acme_answers: grants('', 'sd', 'siud'),
    acme_accounts: grants('', '', 'siud'),
    aname_targets: grants('', 'siu', 'siud'), // read `for share`
    tsig_keys: grants('s', 'siud', 's'), // nodes record their use: COLUMNS
    peers: grants('s', 'siud', 's'),
    transfer_policies: grants('s', 's', 's'), // managed by the operator
    policy_peers: grants('s', 's', 's'),
    zone_peers: grants('s', '', ''),
    secondary_zones: grants('s', '', ''),
    notify_orders: grants('s', 'i', 'sd'), // also written by the operator
    catalogs: grants('', 's', 'su'), // managed by the operator
    catalog_members: grants('', '', 'siud'),
    catalog_names: grants('', '', 's'), // managed by the operator
    catalog_changes: grants('', '', 'sid'), // also written by triggers
    transfer_config: grants('s', '', ''), // written by triggers
    zone_history: grants('s', 'si', 'sid'),
    zone_differences: grants('s', 'sid', 'sid'),
    secondaries: grants('', 'siud', 'siud'),
    received_notifies: grants('s', '', 'sud'), // a node's reports: COLUMNS
    transfer_reports: grants('siu', 's', 'sd'),
    dns_updates: grants('sd', 'su', 'sd'), // written by nodes: COLUMNS
    update_grants: grants('', 'siud', ''),
    update_grant_zones: grants('s', '', ''),
    seen_updates: grants('', 'si', 'sd'),
  },
  columns: [
    { table: 'nodes', role: 'zonefleet_node', may: ['insert', 'update'], columns: NODE_REPORT },
    { table: 'asked_names', role: 'zonefleet_node', may: ['insert'], columns: ASKED },
    { table: 'dns_counts', role: 'zonefleet_node', may: ['insert'], columns: COUNTS },
    { table: 'tsig_keys', role: 'zonefleet_node', may: ['update'], columns: ['last_used_at'] },
    { table: 'received_notifies', role: 'zonefleet_node', may: ['insert'], columns: NOTIFIED },
    { table: 'received_notifies', role: 'zonefleet_node', may: ['update'], columns: ['serial'] },
    { table: 'dns_updates', role: 'zonefleet_node', may: ['insert'], columns: UPDATE_MESSAGE },
    { table: 'vantages', role: 'zonefleet_api', may: ['update'], columns: VANTAGE_REPORT },
    { table: 'edges', role: 'zonefleet_api', may: ['update'], columns: EDGE_REPORT },
    // Global admins confirm a node's held removals.
    { table: 'nodes', role: 'zonefleet_api', may: ['update'], columns: ['confirmed_id'] },
    { table: 'breaker_trips', role: 'zonefleet_api', may: ['insert'], columns: FREEZE },
    { table: 'breaker_trips', role: 'zonefleet_api', may: ['update'], columns: RELEASE },
  ],
  sequences: {
    change_version: ['zonefleet_api', 'zonefleet_worker'],
    edge_version: ['zonefleet_api', 'zonefleet_worker'],
    rules_id_seq: ['zonefleet_api'],
    records_id_seq: ['zonefleet_api', 'zonefleet_worker'],
    check_runs_id_seq: ['zonefleet_worker'],
    certificates_id_seq: ['zonefleet_api', 'zonefleet_worker'],
    key_boxes_id_seq: ['zonefleet_api', 'zonefleet_worker'],
    signing_keys_id_seq: ['zonefleet_api', 'zonefleet_worker'],
  },
  functions: {
    'order_takeover_mails(bigint, text)': ['zonefleet_worker'],
    'order_dnssec_reminder(bigint, text)': ['zonefleet_worker'],
    'providers_of(bigint[])': ['zonefleet_api', 'zonefleet_worker'],
    'note_edge_change(text)': ['zonefleet_api', 'zonefleet_worker'],
    'analyze_zone_records(bigint)': ['zonefleet_api', 'zonefleet_worker'],
  },
};

/** BullMQ's schema holds only jobs: producers lock, read and move the same rows as workers. */
export const QUEUE_SCHEMA_NAME = 'bullmq';
export const QUEUE_ROLES: readonly ProcessRole[] = ['zonefleet_api', 'zonefleet_worker'];

export function unite(all: readonly Privileges[]): Required<Privileges> {
  return {
    tables: Object.assign({}, ...all.map(({ tables }) => tables)),
    columns: all.flatMap(({ columns = [] }) => columns),
    sequences: Object.assign({}, ...all.map(({ sequences }) => sequences)),
    functions: Object.assign({}, ...all.map(({ functions }) => functions)),
  };
}

const PRIVILEGES: Readonly<Record<string, string>> = { s: 'select', i: 'insert', u: 'update', d: 'delete' };
const KIND_OF: Readonly<Record<ProcessRole, keyof Granted>> = {
  zonefleet_node: 'node',
  zonefleet_api: 'api',
  zonefleet_worker: 'worker',
};

/** Returns the role's privileges as SQL (`select, insert`), or undefined if it has none. */
export function privilegesOf(role: ProcessRole, granted: Granted): string | undefined {
  return [...granted[KIND_OF[role]]].map((letter) => PRIVILEGES[letter]).join(', ') || undefined;
}
