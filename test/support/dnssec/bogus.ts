/** What is wrong with a signed reply. */
export class Bogus extends Error {
  override readonly name = 'Bogus';
}
