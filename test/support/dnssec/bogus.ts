/** The reason why a signed reply is not valid. */
export class Bogus extends Error {
  override readonly name = 'Bogus';
}
