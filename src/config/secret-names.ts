const SECRET_NAME = /passw|secret|token|credential|jaas|passphrase|(^|[._-])key$|url$/i;

/** Whether the value of a key that nobody has declared is to be hidden, by the key's name. */
export function isSecretName(key: string): boolean {
  return SECRET_NAME.test(key);
}
