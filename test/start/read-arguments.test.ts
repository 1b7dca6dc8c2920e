import { expect, it } from 'vitest';
import { StartFault } from '../../src/process/start-fault.ts';
import { readArguments } from '../../src/start/read-arguments.ts';

it('there is --demo, and nothing else', () => {
  expect(readArguments([])).toEqual({ isDemo: false });
  expect(readArguments(['--demo'])).toEqual({ isDemo: true });
});

it.each([['--demos'], ['demo'], ['--help'], ['']])('%j is told as unknown', (word) => {
  expect(() => readArguments(['--demo', word])).toThrow(StartFault);
  expect(() => readArguments([word])).toThrow(`"${word}" is no argument of npm start`);
});
