import { Documentation } from '../common/documentation.tsx';
import { texts } from '../texts/editor.ts';
import type { Field } from './config-form.ts';

interface ConfigFieldProps {
  readonly field: Field;
  /** `undefined`: the key is not in the document. */
  readonly value: string | undefined;
  /** What stands for a secret that is stored. */
  readonly mark: string;
  readonly showsErrors: boolean;
  readonly isReadOnly: boolean;
  /** `undefined` takes the key away. */
  readonly onChange: (value: string | undefined) => void;
}

interface ControlProps extends ConfigFieldProps {
  readonly described: string;
}

/** The id of the control of a key. */
export function fieldId(key: string): string {
  return `option-${key}`;
}

/** One option: its name, its value, what it means and what is wrong with it. */
export function ConfigField(props: ConfigFieldProps) {
  const { field, value, showsErrors, isReadOnly, onChange } = props;
  const id = fieldId(field.key);
  const errors = showsErrors ? field.errors : [];
  const described = [
    ...(errors.length > 0 ? [`${id}-error`] : []),
    ...(field.documentation === '' ? [] : [`${id}-text`]),
  ].join(' ');
  const isRemovable = value !== undefined && !field.isRequired && !isReadOnly;
  return (
    <div class={errors.length > 0 ? 'field wrong' : 'field'}>
      <label for={id}>
        {field.label} {field.label === field.key ? null : <code>{field.key}</code>}
      </label>
      <div class="control">
        <Control {...props} described={described} />
        {isRemovable ? (
          <button
            type="button"
            class="remove"
            aria-label={texts.remove(field.key)}
            onClick={() => {
              document.getElementById(id)?.focus();
              onChange(undefined);
            }}
          >
            ✕
          </button>
        ) : null}
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
  const { field, value, onChange } = props;
  const values = ['true', 'false', ...(value === undefined || /^(?:true|false)$/.test(value) ? [] : [value])];
  return (
    <select
      {...common(props)}
      value={value ?? ''}
      onChange={({ currentTarget }) => {
        onChange(currentTarget.value === '' ? undefined : currentTarget.value);
      }}
    >
      <option value="">{field.byDefault === undefined ? texts.notSet : texts.isDefault(field.byDefault)}</option>
      {values.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
}

/** What is stored is not here; a variable is no secret. */
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
  const isUnknown = field.documentation === '' && field.byDefault === undefined;
  const typed = (text: string): void => {
    onChange(text === '' && !isUnknown ? undefined : text);
  };
  if (value?.includes('\n') === true) {
    return (
      <textarea
        {...common(props)}
        rows={4}
        value={value}
        onInput={({ currentTarget }) => {
          typed(currentTarget.value);
        }}
      />
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
        onInput={({ currentTarget }) => {
          typed(currentTarget.value);
        }}
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
