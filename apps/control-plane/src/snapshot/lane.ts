const AGAIN_MS = 5_000;

/** Does its work again for as long as something changed meanwhile, one at a time. */
export class Lane {
  private current: Promise<void> | null = null;
  private again = false;

  constructor(
    private readonly parts: {
      work: () => Promise<boolean>;
      open: () => boolean;
      failed: (error: unknown) => void;
    },
  ) {}

  push(): void {
    this.again = true;
    this.current ??= this.run().finally(() => {
      this.current = null;
      if (this.again && this.parts.open()) this.push();
    });
  }

  /** Resolves once nothing of it is under way. */
  async idle(): Promise<void> {
    await this.current;
  }

  private async run(): Promise<void> {
    try {
      while (this.again && this.parts.open()) {
        this.again = false;
        if (!(await this.parts.work())) setTimeout(() => this.push(), AGAIN_MS).unref();
      }
    } catch (error) {
      this.parts.failed(error);
    }
  }
}
