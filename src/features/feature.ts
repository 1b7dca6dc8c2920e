// What a feature contributes to the processes. A feature is one folder; its `feature.ts` names its parts, and
// every-feature.ts lists the features. Parts that only one process needs are loaded by that process alone.

import type { Command } from 'commander';
import type { Registry } from 'prom-client';
import type { Analytics } from '../analytics/open-analytics.ts';
import type { Services } from '../api/calls/call.ts';
import type { Route } from '../api/calls/route.ts';
import type { EdgeFeed } from '../api/edge/edge-feed.ts';
import type { Cli } from '../cli/terminal/cli.ts';
import type { Job, JobLog, JobTools } from '../jobs/job.ts';
import type { JobKind } from '../jobs/jobs.ts';
import type { Rounds } from '../jobs/run-rounds.ts';
import type { Letter } from '../mail/mailer.ts';
import type { Retention } from '../store/housekeeping/retention.ts';
import type { OrderedMail } from '../store/people/mails.ts';
import type { Database } from '../store/postgres/database.ts';
import type { Privileges } from '../store/roles/role-privileges.ts';

export interface Feature {
  /** The name of its folder. */
  readonly name: string;
  /** The SQL files of its folder that create its tables, in order. */
  readonly schema?: readonly string[];
  /** What each kind of process may do with these tables, sequences and functions. */
  readonly privileges: Privileges;
  /** Rows that workers delete. */
  readonly retention?: Retention;
  /** The kinds of jobs that `jobs` runs. */
  readonly queues?: readonly JobKind<never>[];
  /** Writes the mails of the kinds that it orders. */
  readonly letters?: Readonly<Record<string, WriteLetter>>;
  /** Describes its tags in the API description of customers, and in that of global admins. */
  readonly tags?: Tags;
  readonly adminTags?: Tags;
  readonly services?: () => Promise<OpenServices>;
  readonly routes?: () => Promise<readonly Route[]>;
  readonly edgeRoutes?: () => Promise<readonly Route[]>;
  readonly resellerRoutes?: () => Promise<readonly Route[]>;
  readonly jobs?: () => Promise<readonly OpenJob[]>;
  readonly rounds?: () => Promise<readonly StartRounds[]>;
  readonly commands?: () => Promise<AddCommands>;
}

type Tags = Readonly<Record<string, string>>;

/** Returns undefined if the mail is not to be sent. */
export type WriteLetter = (mail: OrderedMail, publicUrl: string) => Letter | undefined;

/** Adds what the feature's routes use. */
type OpenServices = (tools: ServiceTools, services: Services) => Promise<void> | void;

/** What an API process gives to the services of features. */
export interface ServiceTools {
  readonly db: Database;
  readonly databaseUrl: string;
  readonly settings: {
    /** Undefined if the registry of cached entries is in the main database. */
    readonly cacheRegistryUrl: string | undefined;
    /** Networks that are not public, and that webhooks may nevertheless call. */
    readonly webhookAllow: readonly string[];
  };
  readonly registry: Registry;
  readonly edgeFeed: EdgeFeed;
  readonly log: JobLog;
  readonly onStop: (close: () => Promise<void>) => void;
}

/** Settings of the workers process that features read. */
interface WorkSettings {
  /** Networks that are not public, and that webhooks may nevertheless call. */
  readonly webhookAllow: readonly string[];
  /** How far below zero a reseller's wallet may go, and for how many days. */
  readonly resellerMaxNegativeRials: number;
  readonly resellerNegativeGraceDays: number;
  /** The seller that invoices name. */
  readonly invoiceSeller: string | undefined;
  /** The URL of the directory of a certificate authority (ACME). Undefined if no certificates are issued. */
  readonly acmeDirectory: string | undefined;
  readonly acmeBinding: { readonly kid: string; readonly hmacKey: string } | undefined;
  readonly acmeContact: string | undefined;
  /** The PEM file of the roots that the authority's own certificate is checked with. */
  readonly acmeCaFile: string | undefined;
  /** Undefined if the registry of cached entries is in the main database. */
  readonly cacheRegistryUrl: string | undefined;
}

/** What a workers process gives to the jobs and rounds of features. */
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

type Trouble = 'housekeeping' | 'regions' | 'analytics' | 'uptime';

// biome-ignore lint/suspicious/noExplicitAny: a job of some kind
type AnyJob = Job<any, any>;

/** Returns undefined if this process cannot run the job. */
type OpenJob = (tools: WorkTools) => AnyJob | undefined | Promise<AnyJob | undefined>;

/** Starts work that is done in rounds. Returns undefined if this process cannot do it. */
type StartRounds = (tools: WorkTools) => Rounds | undefined;

type AddCommands = (program: Command, cli: Cli) => void;
