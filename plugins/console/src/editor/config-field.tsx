import { Documentation } from '../common/documentation.tsx';
import { Button } from '../kit/button.tsx';
import { Select } from '../kit/field.tsx';
import { texts } from '../texts/editor.ts';
import type { Field } from './config-form.ts';

interface ConfigFieldProps {
  readonly field: Field;
  /** The value; `undefined` if the key is not in the document. */
  readonly value: string | undefined;
  /** The placeholder that represents a stored secret. */
  readonly mark: string;
  readonly showsErrors: boolean;
  readonly isReadOnly: boolean;
  /** Called with the new value; `undefined` removes the key. */
  readonly onChange: (value: string | undefined) => void;
}

interface ControlProps extends ConfigFieldProps {
  readonly described: string;
}

/** Whether emptying the field removes the key. The Tab key then skips the button that does the same. */
function isEmptiable(field: Field, isStoredSecret: boolean): boolean {
  return !isStoredSecret && !isUnknown(field);
}

/** Whether no plugin declares the option. Its value may be an empty text. */
function isUnknown({ documentation, byDefault }: Field): boolean {
  return documentation === '' && byDefault === undefined;
}

/** The ID of the input element of a key. */
export function fieldId(key: string): string {
  return `option-${key}`;
}

/** Shows one option with its name, value, documentation and errors. */
export function ConfigField(props: ConfigFieldProps) {
  const { field, value, mark, showsErrors, isReadOnly, onChange } = props;
  const id = fieldId(field.key);
  const errors = showsErrors ? field.errors : [];
  const described = [
    ...(errors.length > 0 ? [`${id}-error`] : []),
    ...(field.documentation === '' ? [] : [`${id}-text`]),
  ].join(' ');
  const remove = (): void => {
    document.getElementById(id)?.focus();
    onChange(undefined);
  };
  return (
    <div class={errors.length > 0 ? 'field wrong' : 'field'}>
      <label for={id}>
        {field.label} {field.label === field.key ? null : <code>{field.key}</code>}
      </label>
      <div class="control">
        <Control {...props} described={described} />
        {value === undefined || field.isRequired || isReadOnly ? null : (
          <Button
            class="remove"
            aria-label={texts.remove(field.key)}
            tabIndex={isEmptiable(field, value === mark) ? -1 : undefined}
            onClick={remove}
          >
            ✕
          </Button>
        )}
      </div>
      {errors.length === 0 ? null : (
        <p id={`${id}-error`} class="problem">
          {errors.map((error) => (
            <span key={error}>{error}</span>
          ))}
        </p>
      )}
      {field.documentation === '' ? null : (
        <p id={`${id}-text`} class="quiet">
          <Documentation text={field.documentation} />
        </p>
      )}
    </div>
  );
}

function Control(props: ControlProps) {
  const { field, value } = props;
  if (field.type === 'BOOLEAN') return <Choice {...props} />;
  if (field.type === 'PASSWORD' || value === props.mark) return <Secret {...props} />;
  return <Text {...props} />;
}

function common({ field, described, showsErrors, isReadOnly }: ControlProps) {
  return {
    id: fieldId(field.key),
    disabled: isReadOnly,
    'aria-invalid': showsErrors && field.errors.length > 0,
    'aria-required': field.isRequired,
    'aria-describedby': described === '' ? undefined : described,
  };
}

function Choice(props: ControlProps) {
  const { field, value = '', onChange } = props;
  return (
    <Select
      {...common(props)}
      value={value}
      none={field.byDefault === undefined ? texts.notSet : texts.isDefault(field.byDefault)}
      options={['true', 'false', ...(/^(?:true|false)?$/.test(value) ? [] : [value])]}
      onChange={(next) => onChange(next === '' ? undefined : next)}
    />
  );
}

/** The input for a secret. A stored secret is not sent to the page. A reference to a config provider is not secret, so it is shown. */
function Secret(props: ControlProps) {
  const { value, mark, onChange } = props;
  const isStored = value === mark;
  const own = {
    ...common(props),
    autocomplete: 'new-password',
    value: isStored ? '' : (value ?? ''),
    placeholder: isStored ? texts.keptSecret : '',
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
      onChange(currentTarget.value === '' ? undefined : currentTarget.value);
    },
  };
  return value?.startsWith('${') === true ? <input {...own} type="text" /> : <input {...own} type="password" />;
}

function Text(props: ControlProps) {
  const { field, value, onChange } = props;
  const id = fieldId(field.key);
  const typed = (text: string): void => {
    onChange(text === '' && !isUnknown(field) ? undefined : text);
  };
  if (value?.includes('\n') === true) {
    return (
      <textarea {...common(props)} rows={4} value={value} onInput={({ currentTarget }) => typed(currentTarget.value)} />
    );
  }
  return (
    <>
      <input
        {...common(props)}
        type="text"
        autocomplete="off"
        spellcheck={false}
        list={field.recommended.length === 0 ? undefined : `${id}-values`}
        value={value ?? ''}
        placeholder={field.byDefault ?? ''}
        onInput={({ currentTarget }) => typed(currentTarget.value)}
      />
      {field.recommended.length === 0 ? null : (
        <datalist id={`${id}-values`}>
          {field.recommended.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </>
  );
}
