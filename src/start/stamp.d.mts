// The types of stamp.mjs.

export function findCompiled(root: string, program: string, dataDirectory: string): string | undefined;
