// The texts in the current language. English is the only one; another language is a file next to it with the same members.

import { en } from './en/en.ts';

export type Words = typeof en;

export const words: Words = en;
