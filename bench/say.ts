// Progress messages of the benchmark on standard error.

const startedMs = performance.now();

export function say(text: string): void {
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const clock = `${String(Math.floor(seconds / 60)).padStart(2)}:${String(seconds % 60).padStart(2, '0')}`;
  process.stderr.write(`${clock}  ${text}\n`);
}
