// Keeps the configuration of zone transfers current. If Postgres is lost, the last one stays valid.

import type { Log } from '../../process/reconnect.ts';
import { Wakeup } from '../../process/reconnect.ts';
import type { Connection } from '../../store/postgres/connection.ts';
import type { KeySecret } from '../../store/secrets/key-boxes.ts';
import { loadTransferConfig } from '../../store/transfers/load-config.ts';
import { TransferConfig } from './transfer-config.ts';

/** Revoked keys must be refused within 5 s. */
const POLL_MS = 2000;
/** A large configuration that often changes must not occupy the thread: loading it takes at most this share of the time. */
const MOST_LOAD_SHARE = 0.1;

interface ConfigWatchOptions {
  readonly open: () => Promise<Connection>;
  readonly secrets: readonly KeySecret[];
  /** True if the node takes dynamic updates. */
  readonly takesUpdates: boolean;
  readonly onChanged: (config: TransferConfig) => void;
  readonly log: Log;
}

export class ConfigWatch {
  readonly #options: ConfigWatchOptions;
  readonly #wakeup = new Wakeup();
  #loggedKeys: ReadonlySet<string> = new Set();
  #current: TransferConfig | undefined;
  #failure: string | undefined;
  #loadMs = 0;
  #isStopped = false;
  #running: Promise<void> | undefined;

  constructor(options: ConfigWatchOptions) {
    this.#options = options;
  }

  /** Returns undefined until the configuration was read once. */
  get current(): TransferConfig | undefined {
    return this.#current;
  }

  /** Resolves when the configuration has been read, or could not be read. */
  async start(): Promise<void> {
    await this.#poll();
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wakeup.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      await this.#wakeup.wait(Math.max(POLL_MS, this.#loadMs / MOST_LOAD_SHARE));
      const startedMs = performance.now();
      await this.#poll();
      this.#loadMs = performance.now() - startedMs;
    }
  }

  async #poll() {
    const { open, secrets, takesUpdates, onChanged, log } = this.#options;
    if (this.#isStopped) return;
    try {
      const stored = await loadTransferConfig(await open(), this.#current?.version, { takesUpdates });
      if (this.#failure !== undefined) log.info({}, 'the configuration of zone transfers can be read again');
      this.#failure = undefined;
      if (stored === undefined || this.#isStopped) return;
      this.#current = new TransferConfig(stored, secrets);
      this.#logUnreadable(this.#current);
      onChanged(this.#current);
    } catch (error) {
      if (this.#isStopped || this.#failure !== undefined) return;
      this.#failure = String(error);
      log.warn({ err: error }, 'the configuration of zone transfers cannot be read');
    }
  }

  #logUnreadable({ unreadable }: TransferConfig) {
    for (const key of unreadable) {
      if (this.#loggedKeys.has(key)) continue;
      this.#options.log.error(
        { key },
        'TSIG_SECRETS does not open this key: messages signed with it get SERVFAIL',
      );
    }
    this.#loggedKeys = new Set(unreadable);
  }
}
