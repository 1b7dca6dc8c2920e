// Defines what a feature contributes to the processes. A feature is one folder; its `feature.ts` names its parts, and
// every-feature.ts lists the features. Parts that only one process needs are loaded only by that process.

import type { Registry } from 'prom-client';
import type { Analytics } from '../analytics/open-analytics.ts';
import type { Services } from '../api/calls/call.ts';
import type { Route } from '../api/calls/route.ts';
import type { EdgeFeed } from '../api/edge/edge-feed.ts';
import type { Commands } from '../cli/terminal/commands.ts';
import type { Job, JobLog, JobTools } from '../jobs/job.ts';
import type { JobKind } from '../jobs/jobs.ts';
import type { Rounds } from '../jobs/run-rounds.ts';
import type { Letter } from '../mail/mailer.ts';
import type { Retention } from '../store/housekeeping/retention.ts';
import type { OrderedMail } from '../store/people/mails.ts';
import type { Database } from '../store/postgres/database.ts';
import type { Privileges } from '../store/roles/role-privileges.ts';
import type { KeySecret } from '../store/secrets/key-boxes.ts';

export interface Feature {
  /** The name of its folder. */
  readonly name: string;
  /** The SQL files of its folder that create its tables, in order. */
  readonly schema?: readonly string[];
  /** Rights of each kind of process on its tables, sequences and functions. */
  readonly privileges: Privileges;
  /** Rows that workers delete after some time. */
  readonly retention?: Retention;
  /** Kinds of jobs that `jobs` runs. */
  readonly queues?: readonly JobKind<never>[];
  /** Writers of the kinds of mail that the feature orders. */
  readonly letters?: Readonly<Record<string, WriteLetter>>;
  /** Descriptions of its tags in the customers' API and in that of global admins. */
  readonly tags?: Tags;
  readonly adminTags?: Tags;
  readonly services?: () => Promise<OpenServices>;
  readonly routes?: () => Promise<readonly Route[]>;
  readonly edgeRoutes?: () => Promise<readonly Route[]>;
  readonly resellerRoutes?: () => Promise<readonly Route[]>;
  /** Routes of an API of another system, declared with `compatRoute`. */
  readonly compatRoutes?: () => Promise<readonly Route[]>;
  readonly jobs?: () => Promise<readonly OpenJob[]>;
  readonly rounds?: () => Promise<readonly StartRounds[]>;
  readonly commands?: Commands;
}

type Tags = Readonly<Record<string, string>>;

/** Writes an ordered mail. Returns undefined if it must not be sent. */
export type WriteLetter = (mail: OrderedMail, publicUrl: string) => Letter | undefined;

/** Adds the services that the feature's routes use. */
type OpenServices = (tools: ServiceTools, services: Services) => Promise<void> | void;

/** Parts of an API process that the services of features use. */
export interface ServiceTools {
  readonly db: Database;
  readonly databaseUrl: string;
  readonly settings: OidcSettings & {
    /** Undefined if the cache registry is in the main database. */
    readonly cacheRegistryUrl: string | undefined;
    /** Non-public networks that webhooks may call nevertheless. */
    readonly webhookAllow: readonly string[];
    /** Non-public networks to which NOTIFY may be sent, and from which zones may be transferred. */
    readonly resolverAllow: readonly string[];
    /** Seal TSIG keys. */
    readonly tsigSecrets: readonly KeySecret[];
    /** True if the API serves the console. */
    readonly console: boolean;
    /** Base URL of links. */
    readonly publicUrl: string;
  };
  readonly registry: Registry;
  readonly edgeFeed: EdgeFeed;
  readonly log: JobLog;
  readonly onStop: (close: () => Promise<void>) => void;
}

/** Settings of the identity provider. Undefined members are not set. */
export interface OidcSettings {
  readonly oidcIssuer: string | undefined;
  readonly oidcClientId: string | undefined;
  readonly oidcClientSecret: string | undefined;
  readonly oidcScopes: string;
  readonly oidcName: string;
  /** Email domains; empty or undefined for none. */
  readonly oidcLink: readonly string[] | undefined;
  readonly oidcCreate: readonly string[] | undefined;
  readonly oidcOperators: { readonly name: string; readonly value: string } | undefined;
  readonly oidcConfirm: boolean;
}

/** Settings of the workers process that features read. */
interface WorkSettings {
  /** Non-public networks that webhooks may call nevertheless. */
  readonly webhookAllow: readonly string[];
  /** How far below zero the wallet of a reseller may fall, and for how many days. */
  readonly resellerMaxNegativeRials: number;
  readonly resellerNegativeGraceDays: number;
  /** Seller named in invoices. */
  readonly invoiceSeller: string | undefined;
  /** Directory URL of the certificate authority (ACME). Undefined if no certificates are issued. */
  readonly acmeDirectory: string | undefined;
  readonly acmeBinding: { readonly kid: string; readonly hmacKey: string } | undefined;
  readonly acmeContact: string | undefined;
  /** PEM file with the roots that the authority's own certificate is verified with. */
  readonly acmeCaFile: string | undefined;
  /** Non-public networks in which the primaries of customers may be. */
  readonly resolverAllow: readonly string[];
  /** Seal TSIG keys. */
  readonly tsigSecrets: readonly KeySecret[];
  /** Source address of transfers from primaries. Undefined if the system chooses. */
  readonly transferSource: string | undefined;
  /** Maximum number of records of a zone that is copied from a primary. */
  readonly secondaryMaxRecords: number;
  /** Undefined if the cache registry is in the main database. */
  readonly cacheRegistryUrl: string | undefined;
}

/** Parts of a workers process that the jobs and rounds of features use. */
export interface WorkTools extends JobTools {
  readonly settings: WorkSettings;
  readonly databaseUrl: string;
  readonly log: JobLog;
  /** Undefined if there is no analytics store. */
  readonly analytics: Analytics | undefined;
  readonly onStop: (close: () => Promise<void>) => void;
  /** Counts and logs the error of a failed round. */
  readonly trouble: (of: Trouble, error: Error) => void;
}

type Trouble = 'housekeeping' | 'regions' | 'analytics' | 'uptime' | 'catalogs';

// biome-ignore lint/suspicious/noExplicitAny: a job of some kind
type AnyJob = Job<any, any>;

/** Returns undefined if this process cannot run the job. */
type OpenJob = (tools: WorkTools) => AnyJob | undefined | Promise<AnyJob | undefined>;

/** Starts work that runs in rounds. Returns undefined if this process cannot do it. */
type StartRounds = (tools: WorkTools) => Rounds | undefined;
