// Finds stack traces in the notices and warnings of a log.

const ERROR_LEVEL = 50;

/** Returns the lines below level 50 that contain a stack trace. `log` has lines of JSON and possibly other lines. */
export function stacksInWarnings(log: string): string[] {
  return log.split('\n').filter((line) => {
    if (!line.startsWith('{')) return false;
    const { level } = JSON.parse(line) as { level: number };
    return level < ERROR_LEVEL && /"stack"|\\n +at /.test(line);
  });
}
