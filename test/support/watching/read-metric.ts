// Reads the value of a metric at /metrics of a process.

/** Returns the sum over the lines of /metrics that begin with `start`. */
export async function readMetric(url: string, start: string): Promise<number> {
  return sumMetric(await (await fetch(`${url}/metrics`)).text(), start);
}

/** As `readMetric`, from the text of /metrics. */
export function sumMetric(text: string, start: string): number {
  const lines = text.split('\n').filter((line) => line.startsWith(start));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
