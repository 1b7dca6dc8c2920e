// The thread that writes samples to a dnstap reader and to the query log. If it is too slow, samples are lost.

import { parentPort, workerData } from 'node:worker_threads';
import { createThreadLog } from '../threads/thread-log.ts';
import { DNSTAP_CONTENT, DnstapEncoder, SAMPLE_FRAMES } from './dnstap.ts';
import { FrameStream } from './frame-stream.ts';
import { LineFile } from './line-file.ts';
import { OBSERVED, type ObserveOptions, type ToObserveThread } from './messages.ts';
import { printQueryLine } from './query-line.ts';
import { ReadSample } from './sample-record.ts';
import type { Samples } from './sampler.ts';

const options = workerData as ObserveOptions;
const { dnstap, queryLog, queryLogClient } = options;
const log = createThreadLog((line) => parentPort?.postMessage(line));
const pending = new Int32Array(options.pending);
const observed = new Float64Array(options.observed);
const sample = new ReadSample();
const encoder = new DnstapEncoder(options.nodeName, options.version);
const stream =
  dnstap &&
  new FrameStream(
    dnstap,
    DNSTAP_CONTENT,
    {
      countSent: (frames) => count(OBSERVED.frames, frames),
      countDropped: (why, frames) =>
        count(why === 'queued' ? OBSERVED.framesQueued : OBSERVED.framesUnread, frames),
    },
    log,
  );
const file = queryLog && new LineFile(queryLog, (lines) => count(OBSERVED.linesUnwritten, lines), log);

function count(at: number, more: number): void {
  observed[at] = (observed[at] as number) + more;
}

function observe({ octets, count: samples }: Samples): void {
  if (stream !== undefined) writeFrames(stream, octets, samples);
  if (file) writeLines(file, octets);
}

function writeFrames(to: FrameStream, octets: Uint8Array, samples: number): void {
  if (!to.isAccepted) {
    to.drop(SAMPLE_FRAMES * samples);
    return;
  }
  const frames = Buffer.allocUnsafe(encoder.bound(octets.length, samples));
  let at = 0;
  for (const each of readSamples(octets)) at = encoder.write(each, frames, at);
  to.send(frames.subarray(0, at), SAMPLE_FRAMES * samples);
}

function writeLines(to: LineFile, octets: Uint8Array): void {
  let lines = '';
  for (const each of readSamples(octets)) lines += `${printQueryLine(each, queryLogClient)}\n`;
  to.write(lines);
}

function* readSamples(octets: Uint8Array): Generator<ReadSample> {
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  for (let at = 0; at < octets.length; ) {
    at = sample.read(octets, view, at);
    yield sample;
  }
}

parentPort?.on('message', (message: ToObserveThread) => {
  if (message.kind === 'reopen' && file) file.reopen();
  if (message.kind === 'stop') void stop();
  if (message.kind !== 'samples') return;
  observe(message.samples);
  Atomics.sub(pending, 0, message.samples.octets.length);
});

async function stop(): Promise<void> {
  if (file) file.close();
  await stream?.close();
  process.exit(); // ends only the thread
}
