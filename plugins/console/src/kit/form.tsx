import type { ComponentChildren } from 'preact';

interface FormProps {
  readonly class: string;
  readonly role?: 'search';
  /** Called when the user submits the form; if absent, submitting has no effect. */
  readonly onSubmit?: (form: HTMLFormElement) => unknown;
  readonly children: ComponentChildren;
}

/** A form that is handled by the page instead of being sent by the browser. */
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
