// The transfer thread: assembles the parts that answer signed messages and zone transfers, and that notify peers.

import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { printName } from '../../dns/name.ts';
import { noteNotify, reportKeyUse, reportTransfers } from '../../store/transfers/report-transfers.ts';
import { DatabaseClock } from '../../store/updates/deadline.ts';
import {
  dropUpdates,
  offerUpdates,
  takeUpdateAnswers,
  UPDATE_ANSWERS_CHANNEL,
} from '../../store/updates/queue.ts';
import { AmplificationLimit } from '../answer/amplification-limit.ts';
import { Answerer } from '../answer/answer-query.ts';
import { QueryCounters } from '../answer/query-counters.ts';
import { CountryTable } from '../image/find/country-table.ts';
import { Image, ReaderSlot } from '../image/image.ts';
import { createThreadLog } from '../threads/thread-log.ts';
import { BoundedLog } from './bounded-log.ts';
import { ConfigWatch } from './config-watch.ts';
import { DatabaseLink } from './database-link.ts';
import { EncodedZones } from './encoding/encoded-zones.ts';
import { ZoneHistory } from './encoding/zone-history.ts';
import type { FromTransferThread, ToTransferThread, TransferThreadOptions } from './messages.ts';
import { NotifyOrders } from './notify-orders.ts';
import { NotifySender } from './notify-sender.ts';
import { AnswerPoster } from './post-answers.ts';
import { ReceivedNotifies } from './received-notifies.ts';
import { SlowAnswerer } from './slow-answerer.ts';
import type { TransferConfig } from './transfer-config.ts';
import { TransferCounters } from './transfer-counters.ts';
import { TransferReports } from './transfer-reports.ts';
import { Transfers } from './transfers.ts';
import { UpdateQueue } from './updates/update-queue.ts';
import { readZoneSerials } from './zone-serials.ts';

const SWEEP_MS = 5000;
const STATE_MS = 1000;
/** Reading the serials visits many zones. */
const SERIALS_MS = 10_000;
const REPORT_MS = 10_000;
const ORDERS_MS = 2000;

const options = workerData as TransferThreadOptions;
const port = parentPort as NonNullable<typeof parentPort>;

const post = (message: FromTransferThread) => {
  if (message.kind !== 'answer' || message.octets === undefined) return port.postMessage(message);
  const { octets } = message;
  if (octets.buffer instanceof SharedArrayBuffer) return port.postMessage(message);
  // A small Buffer shares its memory with others. Cloning or transferring it would include them.
  const own = octets.byteLength === octets.buffer.byteLength ? octets : new Uint8Array(octets);
  port.postMessage({ ...message, octets: own }, [own.buffer as ArrayBuffer]);
};

const log = createThreadLog(post);

const image = new Image(options.buffer);
const reader = new ReaderSlot(image, options.slot);
const counters = new TransferCounters();
const reports = new TransferReports();
const zones = new EncodedZones(image, reader);

const { nodeName, databaseUrl, readUrl } = options;
const application = `zonefleet transfers ${nodeName}`;
const links = {
  config: new DatabaseLink(readUrl ?? databaseUrl, application),
  history: new DatabaseLink(readUrl ?? databaseUrl, application),
  reports: new DatabaseLink(databaseUrl, application),
};

const notify =
  options.transfers === 'notify'
    ? new NotifySender({
        peersOf: (zoneId) => config.current?.notifiedPeersOf(zoneId, Date.now()) ?? [],
        zones,
        reports,
        rate: options.notifyRate,
        source: options.notifySource,
        dnsListen: options.dnsListen,
        log,
      })
    : undefined;

const config: ConfigWatch = new ConfigWatch({
  open: () => links.config.get(),
  secrets: options.tsigSecrets,
  takesUpdates: options.dnsUpdate,
  onChanged: (current) => configured(current),
  log,
});

function configured(current: TransferConfig): void {
  const networks = current.operatorNetworks.map(({ octets, bits }) => ({ address: octets, prefix: bits }));
  post({ kind: 'networks', networks });
  post({ kind: 'active', watches: notify !== undefined && current.notifies });
  notify?.configured(current.notifiablePeers(Date.now()));
}

const limit = options.amplificationLimit && AmplificationLimit.on(options.amplificationLimit);
const poster = new AnswerPoster(post, limit);
const failures = new BoundedLog(log, 'warn');
const history = new ZoneHistory(
  () => links.history.get(),
  (error) =>
    failures.write({ err: error }, 'the history of a zone cannot be loaded: the whole zone is transferred'),
);
const notifies = new ReceivedNotifies(
  async (apex, serial) => noteNotify(await links.reports.get(), apex, serial),
  (error) => failures.write({ err: error }, 'a received NOTIFY cannot be recorded'),
);
const transfers = new Transfers({
  zones,
  history,
  poster,
  reports,
  counters,
  most: options.transfersMax,
  log,
});
/** Rows of a former process with this node's name have another instance. */
const instance = randomUUID();
const updateLinks = {
  offers: new DatabaseLink(databaseUrl, application),
  answers: new DatabaseLink(databaseUrl, application, {
    name: UPDATE_ANSWERS_CHANNEL,
    onNotification: (node) => {
      if (node === nodeName) void updates?.take();
    },
  }),
};
const databaseClock = new DatabaseClock();
const updates: UpdateQueue | undefined = options.dnsUpdate
  ? new UpdateQueue({
      open: async () => {
        const answers = await updateLinks.answers.get();
        const offers = await updateLinks.offers.get();
        return {
          offer: async (offered) => {
            const offsetMs = await databaseClock.offsetMs(offers);
            const rows = offered.map((one) => ({ ...one, deadlineMs: one.deadlineMs + offsetMs }));
            await offerUpdates(offers, nodeName, instance, rows);
          },
          take: () => takeUpdateAnswers(answers, nodeName, instance),
          // after the statements that insert rows
          drop: (slots) => dropUpdates(offers, nodeName, instance, slots),
        };
      },
      isServed: ({ apex, serial }) => zones.hasSerial(apex, serial),
      poster,
      counters,
      log,
    })
  : undefined;
const answerer = new SlowAnswerer({
  answerer: new Answerer(
    image,
    {
      ...options.settings,
      rateLimit: undefined,
      amplificationLimit: undefined,
      countries: new CountryTable(options.countries),
    },
    new QueryCounters(options.counters),
    (error) => log.error({ err: error }, 'unhandled error in query, answered SERVFAIL'),
  ),
  reader,
  config: () => config.current,
  zones,
  transfers: options.transfers === 'off' ? undefined : transfers,
  updates,
  poster,
  reports,
  counters,
  onNotify: (apex, serial) => notifies.add(apex, serial),
  log,
});

let serials: ReturnType<typeof readZoneSerials> = [];
function readSerials(): void {
  const current = config.current;
  serials =
    current === undefined || current.peers.length === 0
      ? []
      : readZoneSerials(image, reader, (zoneId) => current.grantsOf(zoneId).length > 0);
}

let lastState = '';
function postState(): void {
  const own = counters.state();
  const out = notify?.state() ?? { notifies: [], notifyQueue: [] };
  const state = {
    ...own,
    ...out,
    notifies: [...own.notifies, ...out.notifies],
    updatesWaiting: updates?.waiting ?? 0,
    zoneSerials: serials.map(({ apex, serial }) => ({ zone: printName(apex), serial })),
  };
  const text = JSON.stringify(state);
  if (text !== lastState) post({ kind: 'state', state });
  lastState = text;
}

async function report(): Promise<void> {
  const { reports: taken, usedKeys } = reports.take();
  if (taken.length + usedKeys.length === 0) return;
  try {
    const connection = await links.reports.get();
    await reportTransfers(connection, nodeName, taken);
    await reportKeyUse(connection, usedKeys);
  } catch (error) {
    reports.putBack(taken);
    log.debug({ err: error }, 'transfers cannot be reported');
  }
}

const orders = new NotifyOrders();
async function takeOrders(): Promise<void> {
  if (notify === undefined || !config.current?.notifies) return;
  try {
    notify.changed(await orders.take(await links.config.get()));
  } catch (error) {
    log.debug({ err: error }, 'orders to send NOTIFY cannot be read');
  }
}

const timers = [
  setInterval(() => zones.sweep(), SWEEP_MS),
  setInterval(readSerials, SERIALS_MS),
  setInterval(postState, STATE_MS),
  setInterval(() => void report(), REPORT_MS),
  setInterval(() => void takeOrders(), ORDERS_MS),
];

async function stop(): Promise<void> {
  for (const timer of timers) clearInterval(timer);
  notify?.stop();
  await updates?.stop();
  await config.stop();
  await report();
  await Promise.all(Object.values({ ...links, ...updateLinks }).map((link) => link.close()));
  post({ kind: 'stopped' });
}

function receive(message: ToTransferThread): void {
  if (message.kind === 'message') answerer.handle(message.message);
  else if (message.kind === 'more') transfers.more(message.id);
  else if (message.kind === 'closed') {
    transfers.closed(message.id);
    updates?.closed(message.id);
  } else if (message.kind === 'changed') notify?.changed(message.zones);
}

// Messages wait until the configuration was read: some secondaries do not repeat a failed query for a minute.
const started = config.start();
port.on('message', (message: ToTransferThread) => {
  if (message.kind === 'stop') void stop();
  else void started.then(() => receive(message));
});
