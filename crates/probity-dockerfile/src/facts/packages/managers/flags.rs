//! The flags of the package managers: which take the next word, and which stand for themselves.
//!
//! Without the first, the value of a flag would be a package. Without the second, nobody could tell a
//! flag that takes no value from one that nobody has heard of.

use probity_shell::Call;

use super::Manager;

/// The flags of one manager, separated by blanks.
#[derive(Debug)]
pub(in crate::facts::packages) struct Flags {
    valued: &'static str,
    switches: &'static str,
}

impl Flags {
    /// Flags whose value is the next word.
    pub(in crate::facts::packages) fn valued(&self) -> Vec<&'static str> {
        self.valued.split_ascii_whitespace().collect()
    }

    /// The flags of a call whose value is the next word. A flag that gem has not heard of belongs to a
    /// plugin or to another version, and is taken to have one.
    pub(in crate::facts::packages) fn valued_in(
        &self,
        manager: Manager,
        call: &Call<'_>,
    ) -> Vec<String> {
        let own = self.valued().into_iter().map(str::to_owned);
        let words = call.args().iter().map(|word| word.prefix().into_owned());
        let unknown = words.filter(|text| text.starts_with("--") && !self.knows(text));
        if manager == Manager::Gem { own.chain(unknown).collect() } else { own.collect() }
    }

    /// Whether it is certain that the word behind this one is its value, or is not.
    pub(in crate::facts::packages) fn knows(&self, word: &str) -> bool {
        let is_valued =
            |flag: &str| self.valued.split_ascii_whitespace().any(|known| known == flag);
        let is_switch =
            |flag: &str| self.switches.split_ascii_whitespace().any(|known| known == flag);
        if word.contains('=') || is_valued(word) || is_switch(word) {
            return true;
        }
        // `-yq` is two switches, and what follows a letter that takes a value is the value.
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'))
        else {
            return false;
        };
        for letter in letters.chars() {
            let flag = format!("-{letter}");
            if is_valued(&flag) {
                return true;
            }
            if !is_switch(&flag) {
                return false;
            }
        }
        true
    }
}

pub(super) const NONE: Flags = Flags { valued: "", switches: "" };

pub(super) const APT: Flags = Flags {
    valued: "-o --option -c --config-file -t --target-release --default-release -a \
             --host-architecture -P --build-profiles --planner --solver --snapshot --with-source",
    switches: "-y --yes --assume-yes --assume-no -q --quiet --no-install-recommends \
             --install-recommends --install-suggests --no-install-suggests --no-upgrade \
             --only-upgrade --reinstall --allow-downgrades --allow-remove-essential \
             --allow-change-held-packages --allow-unauthenticated --allow-insecure-repositories \
             --allow-releaseinfo-change --force-yes -m --fix-missing --ignore-missing -f \
             --fix-broken --no-remove -d --download-only --purge --auto-remove --autoremove \
             --no-auto-remove -s --simulate --just-print --dry-run --recon --no-act -V \
             --verbose-versions -u --show-upgraded --no-show-upgraded --no-download --ignore-hold \
             --print-uris --trivial-only --arch-only --indep-only --show-progress --update -U",
};

pub(super) const RPM: Flags = Flags {
    valued: "-c --config -x --exclude --excludepkgs --enablerepo --enable-repo --disablerepo \
             --disable-repo --repo --repoid --repofrompath --repo-from-path --installroot \
             --releasever --setopt --forcearch --downloaddir --destdir --advisory --advisories --bz \
             --bzs --cve --cves --sec-severity --secseverity --advisory-severities --enableplugin \
             --enable-plugin --disableplugin --disable-plugin -d --debuglevel -e --errorlevel \
             --rpmverbosity -R --randomwait --color --comment --disableexcludes \
             --disableexcludepkgs --disable-excludes",
    switches: "-y --assumeyes --assumeno -q --quiet -v --verbose -C --cacheonly -b --best --nobest \
             --no-best --allowerasing --skip-broken --skip-unavailable --nogpgcheck --no-gpgchecks \
             --nodocs --noplugins --no-plugins --refresh --obsoletes --noautoremove --no-autoremove \
             --downloadonly -t --tolerant --security --bugfix --enhancement --newpackage -4 -6 \
             --allowdowngrade --allow-downgrade --no-allow-downgrade --debugsolver \
             --use-host-config",
};

pub(super) const APK: Flags = Flags {
    valued: "-t --virtual -X --repository -p --root --keys-dir --arch --wait --cache-dir \
             --cache-max-age --timeout --repositories-file --progress-fd",
    switches: "--no-cache -q --quiet -U --update-cache -u --upgrade -l --latest --no-chown -v \
             --verbose -f --force --force-binary-stdout --force-broken-world --force-non-repository \
             --force-old-apk --force-overwrite --force-refresh --allow-untrusted --initdb \
             --no-network --no-progress --progress --purge --no-interactive -i --interactive \
             --no-logfile --no-scripts --no-commit-hooks --clean-protected --overlay-from-stdin \
             --no-check-certificate -s --simulate --usermode --update",
};

/// `-D` is another flag behind the subcommand; nobody builds an image to try a dry run.
pub(super) const ZYPPER: Flags = Flags {
    valued: "-r --repo -c --catalog --from -t --type -R --root --installroot --releasever -D \
             --reposd-dir --cache-dir --config --raw-cache-dir --solv-cache-dir --pkg-cache-dir -p \
             --plus-repo --plus-content --userdata --download --solver-focus",
    switches: "-y --no-confirm -n --name --non-interactive -q --quiet -v --verbose -f --force -l \
             --auto-agree-with-licenses --auto-agree-with-product-licenses -d --download-only \
             --dry-run --details --no-recommends --recommends --force-resolution \
             --no-force-resolution --replacefiles --oldpackage --allow-unsigned-rpm --no-gpg-checks \
             --gpg-auto-import-keys --no-refresh --no-cd --no-remote --ignore-unknown \
             --allow-downgrade --no-allow-downgrade --allow-name-change --allow-arch-change \
             --allow-vendor-change --no-allow-vendor-change --download-in-advance \
             --download-as-needed --no-color --disable-repositories",
};

/// Those of `uv pip` too.
pub(super) const PIP: Flags = Flags {
    valued: "-r --requirement -c --constraint -e --editable -t --target -i --index-url \
             --extra-index-url -f --find-links --trusted-host --prefix --root --platform \
             --python-version --upgrade-strategy --proxy --timeout --retries --cache-dir \
             --no-binary --only-binary --progress-bar --log --log-file --root-user-action --src \
             --python -p --cert --client-cert --report --config-settings --config-setting -C \
             --global-option --build-option --install-option --abi --implementation --group \
             --exists-action --keyring-provider --use-feature --use-deprecated -b --build \
             --build-constraint --resume-retries --index --default-index --index-strategy \
             --exclude-newer --resolution --prerelease --link-mode --override --extra \
             --torch-backend --python-platform -P --upgrade-package --reinstall-package \
             --refresh-package --no-build-package --no-build-isolation-package",
    switches: "-U --upgrade -q --quiet -v --verbose --no-cache-dir --no-cache --user --pre --no-deps \
             --force-reinstall -I --ignore-installed --ignore-requires-python --no-build-isolation \
             --use-pep517 --no-use-pep517 --no-index --prefer-binary --require-hashes \
             --no-require-hashes --no-input --disable-pip-version-check --no-python-version-warning \
             --no-color --debug --isolated --break-system-packages --compile --no-compile \
             --no-warn-script-location --no-warn-conflicts --check-build-dependencies --dry-run \
             --no-clean --require-virtualenv --system --process-dependency-links -y --yes --strict \
             --reinstall --exact --compile-bytecode --native-tls --offline --all-extras \
             --no-sources --no-config --no-progress",
};

pub(super) const PIPX: Flags = Flags {
    valued: "--python --pip-args --suffix --preinstall -i --index-url --fetch-missing-python",
    switches: "-f --force -e --editable --include-deps --system-site-packages -v --verbose -q \
             --quiet --global --no-cache-dir",
};

/// `--unsafe-perm` is missing, since what stands behind it may be its value.
pub(super) const NPM: Flags = Flags {
    valued: "--prefix --registry --cache -w --workspace --tag --loglevel --omit --include --only \
             --depth --before -C --script-shell --proxy --https-proxy --noproxy --userconfig \
             --globalconfig --cafile --ca --cert --key --otp --access --audit-level \
             --install-strategy --fetch-retries --fetch-timeout --fetch-retry-mintimeout \
             --fetch-retry-maxtimeout --fetch-retry-factor --maxsockets --node-options \
             --save-prefix --cpu --os --libc --auth-type --scope --shell --tmp --user-agent --umask \
             --lockfile-version --local-address --location --python",
    switches: "-g --global -D --save-dev -S --save -P --save-prod -O --save-optional -E --save-exact \
             -B --save-bundle --save-peer --no-save --production -f --force --legacy-peer-deps \
             --strict-peer-deps --no-audit --audit --no-fund --fund --no-optional --no-package-lock \
             --package-lock --package-lock-only --ignore-scripts --no-bin-links --bin-links \
             --foreground-scripts --prefer-offline --prefer-online --offline -q --quiet -s --silent \
             -d --verbose --no-progress --progress --allow-root --dry-run --no-update-notifier \
             --no-color --install-links --legacy-bundling --global-style --workspaces -ws \
             --include-workspace-root -y --yes --json --no-strict-ssl --engine-strict \
             --no-shrinkwrap --prefer-dedupe",
};

/// `--production` is missing, since what stands behind it may be its value.
pub(super) const YARN: Flags = Flags {
    valued: "--cwd --modules-folder --cache-folder --registry --network-timeout \
             --network-concurrency --global-folder --prefix --mutex --preferred-cache-folder \
             --link-folder --proxy --https-proxy --use-yarnrc --otp --mode",
    switches: "-D --dev -E --exact -T --tilde -P --peer -O --optional -W \
             --ignore-workspace-root-check --frozen-lockfile --pure-lockfile --no-lockfile \
             --non-interactive -s --silent --ignore-scripts --ignore-engines --ignore-optional \
             --ignore-platform --force --offline --prefer-offline --no-progress --flat --har \
             --check-files --no-bin-links --verbose --json --skip-integrity-check --no-default-rc \
             --audit --link-duplicates --immutable --inline-builds --no-node-version-check",
};

pub(super) const PNPM: Flags = Flags {
    valued: "-C --dir --filter -F --filter-prod --store-dir --registry --reporter --loglevel \
             --global-dir --global-bin-dir --virtual-store-dir --modules-dir --lockfile-dir \
             --network-concurrency --child-concurrency --package-import-method --hoist-pattern \
             --public-hoist-pattern --save-catalog-name --cpu --os --libc --allow-build \
             --workspace-concurrency --test-pattern --changed-files-ignore-pattern --save-prefix \
             --node-linker --prefix",
    switches: "-D --save-dev -P --save-prod -O --save-optional -E --save-exact --save-peer -g \
             --global -w --workspace-root -W --ignore-workspace-root-check --workspace \
             --frozen-lockfile --no-frozen-lockfile --prod --production --dev --no-optional \
             --ignore-scripts --offline --prefer-offline --force -r --recursive --shamefully-hoist \
             -s --silent --strict-peer-dependencies --no-strict-peer-dependencies --lockfile-only \
             --fix-lockfile --no-lockfile --use-stderr --stream --save-catalog --no-color \
             --ignore-pnpmfile",
};

/// Flags whose value may be left out are among the first: a name directly behind is the value.
pub(super) const GEM: Flags = Flags {
    valued: "-v --version -i --install-dir -n --bindir -s --source -P --trust-policy --platform \
             --document -g --file --build-root --target-rbconfig --config-file --without -p \
             --http-proxy -j --build-jobs -B --bulk-threshold",
    switches: "--no-document -N --no-ri --no-rdoc --ri --rdoc -f --force -q --quiet -V --verbose \
             --silent --user-install --no-user-install --conservative --minimal-deps \
             --no-minimal-deps --explain --default --development --development-all -l --local -r \
             --remote -b --both --clear-sources -u --update-sources --no-update-sources \
             --prerelease --pre -E --env-shebang -w --wrappers --no-wrappers --format-executable \
             --no-format-executable --ignore-dependencies --suggestions --no-suggestions --lock \
             --no-lock --post-install-message --no-post-install-message --vendor --norc --backtrace \
             --debug",
};

pub(super) const GO: Flags = Flags {
    valued: "-tags -ldflags -gcflags -asmflags -gccgoflags -mod -modfile -p -o -C -buildmode \
             -compiler -installsuffix -overlay -pkgdir -toolexec -covermode -coverpkg -pgo",
    switches: "-v -x -n -a -race -msan -asan -cover -trimpath -work -linkshared -modcacherw -u -t -d \
             -f -fix -insecure -buildvcs -json -i",
};

pub(super) const CARGO: Flags = Flags {
    valued: "--version --vers --git --branch --tag --rev --path --root --features -F --bin \
             --example --target --target-dir --artifact-dir --profile -j --jobs --registry --index \
             --config --color -Z -C --message-format --lockfile-path",
    switches: "--locked -f --force --no-track --all-features --no-default-features --debug --frozen \
             --offline -q --quiet -v --verbose --bins --examples --keep-going -n --dry-run \
             --ignore-rust-version --timings",
};

pub(super) const COMPOSER: Flags = Flags {
    valued: "-d --working-dir --prefer-install --ignore-platform-req --apcu-autoloader-prefix \
             --audit-format",
    switches: "-n --no-interaction -q --quiet -v --verbose --profile --no-plugins --no-scripts \
             --no-cache --ansi --no-ansi --dev --dry-run --prefer-source --prefer-dist --fixed \
             --no-suggest --no-progress --no-update --no-install --no-audit --update-no-dev \
             --no-dev -w --update-with-dependencies -W --update-with-all-dependencies \
             --with-dependencies --with-all-dependencies --ignore-platform-reqs --prefer-stable \
             --prefer-lowest -m --minimal-changes --sort-packages -o --optimize-autoloader -a \
             --classmap-authoritative --apcu-autoloader",
};

pub(super) const CHOCOLATEY: Flags = Flags {
    valued: "-s --source --version --params --package-parameters --ia --install-arguments \
             --execution-timeout -u --user -p --password --cache-location --checksum \
             --checksum-type --checksum64 --checksum-type64 --proxy",
    switches: "-y --yes --confirm -f --force -r --limit-output -d --debug -v --verbose --no-progress \
             --pre --prerelease -x86 --x86 --forcex86 -n --skip-powershell -i \
             --ignore-dependencies --allow-downgrade --ignore-checksums --allow-empty-checksums \
             --not-silent --no-color --acceptlicense --accept-license",
};

pub(super) const SCOOP: Flags = Flags {
    valued: "-a --arch",
    switches: "-g --global -i --independent -k --no-cache -s --skip-hash-check -u --no-update-scoop",
};

pub(super) const WINGET: Flags = Flags {
    valued: "-v --version -s --source --scope -a --architecture --installer-type -o --log --override \
             --custom -l --location --locale --header --authentication-mode",
    switches: "-e --exact -h --silent -i --interactive --force --accept-package-agreements \
             --accept-source-agreements --disable-interactivity --no-upgrade --ignore-security-hash",
};
