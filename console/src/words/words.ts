// The words of the language in use. English is the only one so far; another is a file beside it with the same members.

import { en } from './en.ts';

export type Words = typeof en;

export const words: Words = en;
