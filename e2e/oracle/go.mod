module oracle

go 1.25.0

require github.com/Masterminds/semver/v3 v3.4.0
