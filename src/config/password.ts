import { inspect } from 'node:util';

const HIDDEN = '[hidden]';

/** The value of a PASSWORD option. In logs, JSON and texts it is `[hidden]`; only `reveal()` returns the secret. */
export class Password {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}

const SECRET_NAME =
  /passw|secret|token|credential|jaas|passphrase|user\.info$|(?:^|[._-])(?:key|pwd|pass|creds?)$|(?:api|access|private|account)key$|url$/i;

/** Whether the name of a key suggests that its value is a secret. Used where the type of the option is unknown. */
export function isSecretName(key: string): boolean {
  return SECRET_NAME.test(key);
}
