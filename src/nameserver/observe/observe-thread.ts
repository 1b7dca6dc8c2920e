// The thread that writes samples to a dnstap reader and to the query log. If it is too slow, samples are lost.

import { parentPort, workerData } from 'node:worker_threads';
import { createThreadLog } from '../threads/thread-log.ts';
import { DNSTAP_CONTENT, DnstapEncoder, SAMPLE_FRAMES } from './dnstap.ts';
import { FrameStream } from './frame-stream.ts';
import { LineFile } from './line-file.ts';
import { OBSERVED, type ObserveOptions, type ToObserveThread } from './messages.ts';
import { MAX_LINE_OCTETS, QueryLines } from './query-lines.ts';
import { ReadSample } from './sample-record.ts';
import type { Samples } from './sampler.ts';

const options = workerData as ObserveOptions;
const { dnstap, queryLog, queryLogClient } = options;
const log = createThreadLog((line) => parentPort?.postMessage(line));
const pending = new Int32Array(options.pending);
const observed = new Float64Array(options.observed);
const sample = new ReadSample();
const printer = new QueryLines(queryLogClient);
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

/** Returns memory for `octets` octets, which the next call overwrites. */
function createScratch(): (octets: number) => Buffer {
  let memory = Buffer.alloc(0);
  return (octets) => {
    if (memory.length < octets) memory = Buffer.alloc(2 * octets);
    return memory;
  };
}
const frameScratch = createScratch();
const lineScratch = createScratch();

function observe({ octets, count: samples }: Samples): void {
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  const hasReader = stream?.isAccepted === true;
  const frames = frameScratch(hasReader ? encoder.bound(octets.length, samples) : 0);
  const lines = lineScratch(file ? samples * MAX_LINE_OCTETS : 0);
  let frameEnd = 0;
  let lineEnd = 0;
  for (let at = 0; at < octets.length; ) {
    at = sample.read(octets, view, at);
    if (hasReader) frameEnd = encoder.write(sample, frames, frameEnd);
    if (file) lineEnd = printer.write(sample, lines, lineEnd);
  }
  // A copy, because the stream sends it later.
  if (hasReader) stream.send(Buffer.from(frames.subarray(0, frameEnd)), SAMPLE_FRAMES * samples);
  else stream?.drop(SAMPLE_FRAMES * samples);
  if (file) file.write(lines.subarray(0, lineEnd));
}

parentPort?.on('message', (message: ToObserveThread) => {
  if (message.kind === 'reopen' && file) file.reopen();
  if (message.kind === 'stop') void stop();
  if (message.kind !== 'samples') return;
  const { length } = message.samples.octets;
  observe(message.samples);
  count(OBSERVED.octets, length);
  Atomics.sub(pending, 0, length);
});

async function stop(): Promise<void> {
  if (file) file.close();
  await stream?.close();
  process.exit(); // ends only the thread
}
