import { isSecretName } from '../../config/password.ts';
import { ConfigError } from '../../errors.ts';

const NAME = '[A-Za-z_][A-Za-z0-9_]*';
const DEFAULT = '(?::-([^{}]*))?';
const REFERENCE = new RegExp(String.raw`\$\$\{|\$\{(${NAME})${DEFAULT}\}`, 'g');
const TO_ESCAPE = new RegExp(String.raw`(?<=\$)\$\{|\$\{(?=${NAME}${DEFAULT}\})`, 'g');

/** Values of `${NAME}` in connector files. */
export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Replaces `${NAME}` and `${NAME:-default}`; `$${` is replaced by `${`. References to config providers, `${file:…:…}`,
 * have a colon after the name and stay. Throws a ConfigError for a variable without a value. `learn` is called with the
 * values of variables whose names suggest secrets.
 */
export function replaceFileVariables(text: string, variables: Variables, learn: (secret: string) => void): string {
  return text.replace(REFERENCE, (match, name: string | undefined, otherwise: string | undefined) => {
    if (name === undefined) return match.slice(1);
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const given = value === undefined || (value === '' && otherwise !== undefined) ? otherwise : value;
    if (given === undefined) {
      throw new ConfigError(
        `The variable ${name} has no value: set it in the environment or in a --var-file, give a default with \${${name}:-…}, or write $\${${name}} for the text itself`,
      );
    }
    if (isSecretName(name)) learn(given);
    return given;
  });
}

/** The text that `replaceFileVariables` converts back to `text`. */
export function escapeVariables(text: string): string {
  return text.replace(TO_ESCAPE, '$$$${');
}
