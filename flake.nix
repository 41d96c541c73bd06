{
  description = "Deduplicate, normalize and inspect URIs in bulk by RFC 3986";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      eachSystem = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      workspace = (nixpkgs.lib.importTOML ./Cargo.toml).workspace.package;
    in
    {
      packages = eachSystem (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "uriscan";
          inherit (workspace) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [ "--package=uriscan-cli" ];
          buildFeatures = [ "full" ];
          # The tests of the repository want more than a build sandbox has, such as corpora of git.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            packaging/files $out/bin/uriscan share
            installManPage share/man/*.1
            installShellCompletion --bash share/completions/uriscan --zsh share/completions/_uriscan \
              --fish share/completions/uriscan.fish
          '';
          meta = {
            description = "Deduplicate, normalize and inspect URIs in bulk by RFC 3986";
            license = with pkgs.lib.licenses; [
              mit
              asl20
            ];
            mainProgram = "uriscan";
          };
        };
      });

      devShells = eachSystem (pkgs: {
        default = pkgs.mkShell {
          packages = with pkgs; [
            cargo
            clippy
            python3
            rustc
            rustfmt
          ];
        };
      });
    };
}
