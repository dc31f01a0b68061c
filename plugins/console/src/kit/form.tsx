import type { ComponentChildren } from 'preact';

interface FormProps {
  readonly class: string;
  readonly role?: 'search';
  /** Absent: the form is never sent. */
  readonly onSubmit?: (form: HTMLFormElement) => unknown;
  readonly children: ComponentChildren;
}

/** A form that the page itself handles. */
export function Form({ class: className, role, onSubmit, children }: FormProps) {
  return (
    <form
      class={className}
      role={role}
      onSubmit={(event) => {
        event.preventDefault();
        void onSubmit?.(event.currentTarget);
      }}
    >
      {children}
    </form>
  );
}
