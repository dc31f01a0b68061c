import type { ComponentChildren, JSX, Ref } from 'preact';

type InputAttributes = Pick<
  JSX.IntrinsicElements['input'],
  'class' | 'title' | 'placeholder' | 'size' | 'inputMode' | 'autocomplete' | 'spellcheck' | 'onKeyDown'
>;

interface InputProps extends InputAttributes {
  readonly value: string;
  readonly onInput: (value: string) => unknown;
  readonly type?: 'text' | 'search' | 'datetime-local';
}

interface TextFieldProps extends InputProps {
  readonly label: string;
  /** Whether the field is as wide as its form. */
  readonly isWide?: boolean;
}

export function TextField({ label, isWide = false, ...input }: TextFieldProps) {
  return (
    <label class={isWide ? 'wide-field' : undefined}>
      {label} <Input {...input} />
    </label>
  );
}

/** An input. If its type is `datetime-local`, the user can enter seconds. */
function Input({ type = 'text', onInput, ...more }: InputProps) {
  const own = {
    ...more,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => void onInput(currentTarget.value),
  };
  if (type === 'datetime-local') return <input {...own} type="datetime-local" step="1" />;
  return type === 'search' ? <input {...own} type="search" /> : <input {...own} type="text" />;
}

type SelectAttributes = Pick<
  JSX.IntrinsicElements['select'],
  'id' | 'aria-label' | 'aria-describedby' | 'aria-invalid' | 'aria-required'
>;

interface SelectProps<V extends string> extends SelectAttributes {
  readonly value: V;
  readonly options: readonly V[];
  /** Returns the text of an option; if absent, the value is shown. */
  readonly text?: (option: V) => string;
  /** The text of an additional first option, whose value is empty. */
  readonly none?: string;
  readonly onChange: (value: V) => unknown;
  readonly disabled?: boolean;
  readonly selectRef?: Ref<HTMLSelectElement>;
  /** Further `option` elements, placed before `options`. */
  readonly children?: ComponentChildren;
}

export function Select<V extends string>(props: SelectProps<V>) {
  const { options, text = String, none, onChange, selectRef = null, children, ...more } = props;
  return (
    <select {...more} ref={selectRef} onChange={({ currentTarget }) => void onChange(currentTarget.value as V)}>
      {none === undefined ? null : <option value="">{none}</option>}
      {children}
      {options.map((option) => (
        <option key={option} value={option}>
          {text(option)}
        </option>
      ))}
    </select>
  );
}

interface SelectFieldProps<V extends string> extends SelectProps<V> {
  readonly label: string;
}

export function SelectField<V extends string>({ label, ...select }: SelectFieldProps<V>) {
  return (
    <label>
      {label} <Select {...select} />
    </label>
  );
}
