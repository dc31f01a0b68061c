import { withoutJavaBlanks } from '../../data/text-ends.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import type { ConfigInfos, ValueView } from '../config-values.ts';
import { Password } from '../password.ts';
import { hasVariables } from './variables.ts';

type Config = Readonly<Record<string, string | null>>;

const HIDDEN = new Password('').toString();

/** Removes resolved values from validation results: an option shows its variable, and its errors do not contain the value. */
export function withHiddenValues(
  infos: ConfigInfos,
  given: Config,
  resolved: Config,
  secrets: SecretMask,
): ConfigInfos {
  const configs = infos.configs.map(({ definition, value }) => ({
    definition,
    value: hiddenValue(value, given[value.name] ?? null, resolved[value.name] ?? null, secrets),
  }));
  return { ...infos, configs };
}

function hiddenValue(view: ValueView, given: string | null, resolved: string | null, secrets: SecretMask): ValueView {
  if (given === null || resolved === null || given === resolved || !hasVariables(given)) {
    const errors = view.errors.map((error) => secrets.hide(error));
    return { ...view, value: view.value === null ? null : secrets.hide(view.value), errors };
  }
  const value = view.value === null || view.value === HIDDEN ? view.value : given;
  return { ...view, value, errors: view.errors.map((error) => hiddenError(view.name, error, resolved, secrets)) };
}

/**
 * Hides the resolved value at the start of an error message. If the message contains the value elsewhere too, the whole
 * message is replaced by the message that Kafka Connect's development branch prints.
 */
function hiddenError(name: string, error: string, resolved: string, secrets: SecretMask): string {
  const forms = [resolved, resolved.trim(), `[${resolved.split(',').map(withoutJavaBlanks).join(', ')}]`];
  const form = forms.find((each) => error.startsWith(`Invalid value ${each} for configuration `));
  const rest =
    form === undefined ? error : `Invalid value ${HIDDEN}${error.slice('Invalid value '.length + form.length)}`;
  if (!rest.includes(resolved.trim())) return secrets.hide(rest);
  return `Invalid value for configuration '${name}': the value resolved from the config provider reference failed validation`;
}
